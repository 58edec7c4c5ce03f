// BpfSource: system calls of the running machine, from BPF programs instead of tracepoint events
// (bpf/syscall_trace.h, bpf/syscall_totals.h): one record per call when it returns, with the memory
// that its arguments point to; or, for totals, only rows that the kernel adds up.
//
//   std::unique_ptr<BpfSource> source = TRY(BpfSource::open(request, losses));
//   TRY(source->start());
//
// Filtering happens in the kernel. If the request lists only a few calls, they are traced through
// their own tracepoints, so that other calls cost next to nothing. A request that begins with an
// execve needs no start(): it begins with that call.
//
// Items are calls and losses only; thread names come with each call. wait_fds() holds a timer that
// fires when it is time to look: every few milliseconds under load, less often when there is little
// to do.
#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/loss.h"
#include "bpf/syscall_totals.h"
#include "bpf/syscall_trace.h"
#include "trace/sources/bpf_records.h"
#include "trace/sources/trace_source.h"

namespace sonde {

class BpfSource final : public TraceSource {
 public:
  /// Errors: kPermission or kUnsupported if the kernel does not accept such programs (tracepoints
  /// can be used then); kUsage for a request that no source supports.
  static Result<std::unique_ptr<BpfSource>> open(const TraceRequest& request, LossLedger& losses);
  BpfSource(const BpfSource&) = delete;
  BpfSource& operator=(const BpfSource&) = delete;
  ~BpfSource() override;

  [[nodiscard]] const std::vector<TracedEvent>& events() const override { return events_; }
  [[nodiscard]] std::vector<int> wait_fds() const override;
  Result<> start() override;
  void stop() override;
  Result<> refill(bool all) override;
  [[nodiscard]] const TraceItem* front() override;
  void pop() override;
  [[nodiscard]] uint64_t safe_until_ns() const override;
  [[nodiscard]] bool at_end() const override;
  [[nodiscard]] Result<std::vector<CallTotals>> totals() override;

  /// The descriptor of the programs' map of this name; kNotFound if there is none.
  [[nodiscard]] Result<int> map(std::string_view name) const;

  /// What was lost, by CPU and call, most losses first.
  [[nodiscard]] std::vector<SyscallTrace::Loss> losses() const;

 private:
  struct State;
  explicit BpfSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::vector<TracedEvent> events_;
};

}  // namespace sonde
