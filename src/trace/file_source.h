// A recording as a TraceSource: its records in the order of time, a few blocks at a time.
//
// All of a recording's raw_syscalls samples are calls; where it has none, those of the calls' own
// tracepoints are. What waits is views into the file, of two rounds of the recorder
// (perfdata/ordering.h).
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "perfdata/recording.h"
#include "trace/trace_source.h"

namespace sonde {

class FileSource final : public TraceSource {
 public:
  /// The recording outlives the source. kUsage where nothing in it can be traced.
  static Result<std::unique_ptr<FileSource>> open(const Recording& recording, LossLedger& losses);
  ~FileSource() override;

  [[nodiscard]] const std::vector<TracedEvent>& events() const override;
  Result<> refill(bool all) override;
  [[nodiscard]] const TraceItem* front() override;
  void pop() override;
  [[nodiscard]] uint64_t safe_until_ns() const override;
  [[nodiscard]] bool at_end() const override;
  /// Of the calls' numbers.
  [[nodiscard]] SyscallAbi abi() const;
  /// Whether the recording has calls at all.
  [[nodiscard]] bool has_calls() const;

 private:
  struct State;
  explicit FileSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
