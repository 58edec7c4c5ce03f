// BpfSource: system calls of the running machine, from BPF programs in place of tracepoint events
// (bpf/syscall_trace.h, bpf/syscall_totals.h): one record per call where it returns, with the
// memory that its arguments lead to; or, for totals, nothing but rows that the kernel adds up.
//
//   std::unique_ptr<BpfSource> source = TRY(BpfSource::open(request, losses));
//   TRY(source->start());
//
// What is not asked for is left out in the kernel. Calls that few names stand for are traced by
// their own tracepoints, which costs other calls next to nothing. A request that begins with an
// execve needs no start(): with one, it begins then.
//
// Items are calls and losses only; names of threads come with each call. wait_fds() has a timer
// that goes off when it is time to look: every few milliseconds while there is much to do, more
// seldom when there is not.
#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/loss.h"
#include "bpf/syscall_totals.h"
#include "bpf/syscall_trace.h"
#include "trace/bpf_records.h"
#include "trace/trace_source.h"

namespace sonde {

class BpfSource final : public TraceSource {
 public:
  /// Errors: kPermission or kUnsupported where the kernel takes no such programs: tracepoints can
  /// do it then. kUsage for what no source could do.
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
  [[nodiscard]] Result<std::vector<SyscallTotals>> totals() override;

  /// What was lost, by CPU and call: the busiest first.
  [[nodiscard]] std::vector<SyscallTrace::Loss> losses() const;

 private:
  struct State;
  explicit BpfSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::vector<TracedEvent> events_;
};

}  // namespace sonde
