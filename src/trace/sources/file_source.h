// A recording as a TraceSource: its records in time order, a few blocks at a time.
//
// All raw_syscalls samples of a recording are calls; if it has none, samples of the per-call
// tracepoints are. Pending items are views into the file, at most two of the recorder's rounds
// (perfdata/read/ordering.h).
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "perfdata/read/recording.h"
#include "trace/sources/trace_source.h"

namespace sonde {

class FileSource final : public TraceSource {
 public:
  /// The recording must outlive the source. kUsage if it contains nothing that can be traced.
  static Result<std::unique_ptr<FileSource>> open(const Recording& recording, LossLedger& losses);
  ~FileSource() override;

  [[nodiscard]] const std::vector<TracedEvent>& events() const override;
  Result<> refill(bool all) override;
  [[nodiscard]] const TraceItem* front() override;
  void pop() override;
  [[nodiscard]] uint64_t safe_until_ns() const override;
  [[nodiscard]] bool at_end() const override;
  /// The ABI of the call numbers.
  [[nodiscard]] SyscallAbi abi() const;
  /// Whether the recording has calls at all.
  [[nodiscard]] bool has_calls() const;

 private:
  struct State;
  explicit FileSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
