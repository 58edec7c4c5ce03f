#include "capture/recorders/aggregate_recorder.h"

#include <linux/perf_event.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "capture/recorders/stacked_sample.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

/// What a sum can say. Everything else differs from sample to sample.
constexpr uint64_t kSummable = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime |
                               abi::kSampleId | abi::kSampleIdentifier | abi::kSampleStreamId |
                               abi::kSampleCpu | abi::kSamplePeriod | abi::kSampleCallchain;

bool takes_samples(const CaptureEvent& event) {
  const abi::EventAttr& attr = event.attr();
  bool is_written_by_us = attr.type == abi::kTypeSoftware && attr.config == abi::kSwBpfOutput;
  return attr.sample_period != 0 && !event.is_dummy() && !event.is_trace && !is_written_by_us;
}

/// Enough for a window of all CPUs at the usual frequency, within 100 MiB of kernel memory.
uint32_t entries_for(size_t cpus) {
  constexpr size_t kPerCpu = 8192, kMost = 65536;
  return static_cast<uint32_t>(std::min(cpus * kPerCpu, kMost));
}

/// The walker's events have room for a stack: for those samples that it does not count.
uint64_t summable(const CaptureEvent& event, const SamplingOptions& sampling) {
  bool is_walked = sampling.call_graph == CallGraphMode::kBpf && sampling.user_registers == 0 &&
                   !sampling.copies_walked && KernelUnwinding::is_walked(event);
  return kSummable | (is_walked ? abi::kSampleRegsUser | abi::kSampleStackUser : 0);
}

}  // namespace

Result<> check_aggregated(const std::vector<CaptureEvent>& events,
                          const SamplingOptions& sampling) {
  for (const CaptureEvent& event : events) {
    if (!takes_samples(event)) continue;
    uint32_t type = event.attr().type;
    if (type == abi::kTypeTracepoint || type == abi::kTypeBreakpoint)
      return fail(ErrorCode::kUnsupported,
                  "--aggregate counts samples taken by time or by the processor, not {}: omit it, "
                  "or the option",
                  event.parsed.name);
    if ((event.attr().sample_type & ~summable(event, sampling)) != 0)
      return fail(ErrorCode::kFailed,
                  "--aggregate keeps sums by thread and call chain (-g or --call-graph bpf); what "
                  "else the samples of {} would hold differs from one to the next: omit those "
                  "options",
                  event.parsed.name);
  }
  return {};
}

StackSumOptions sum_options(const RecordOptions& options) {
  const SamplingOptions& sampling = options.sampling;
  StackSumOptions wanted;
  wanted.kernel_chains = !sampling.all_user && !sampling.user_callchains;
  wanted.user_chains = !sampling.all_kernel && !sampling.kernel_callchains;
  wanted.by_cpu = sampling.cpu;
  if (sampling.max_stack != 0) wanted.depth = sampling.max_stack;
  wanted.most_entries = entries_for(static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  return wanted;
}

AggregateRecorder::AggregateRecorder(std::vector<Summed> events, const Capture& capture,
                                     KernelUnwinding* unwinding, Fd timer, uint64_t window_ns)
    : events_(std::move(events)),
      capture_(capture),
      unwinding_(unwinding),
      timer_(std::move(timer)),
      window_ns_(window_ns),
      began_ns_(monotonic_ns()) {}

Result<AggregateRecorder> AggregateRecorder::open(Sys& sys, const Capture& capture,
                                                  KernelUnwinding* unwinding,
                                                  const RecordOptions& options) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  StackSumOptions wanted = sum_options(options);
  std::vector<Summed> events;
  bool any = false;
  for (const CaptureEvent& event : capture.events) {
    if (!takes_samples(event)) continue;
    any = true;
    if (unwinding != nullptr && KernelUnwinding::is_walked(event)) continue;
    Summed& summed = events.emplace_back(&event, TRY(StackSums::open(wanted)));
    for (const OpenedEvent& opened : event.opened) {
      SysResult<int> set = sys.ioctl(opened.fd, PERF_EVENT_IOC_SET_BPF,
                                     static_cast<uint64_t>(summed.sums.program()));
      if (!set)
        return fail(ErrorCode::kUnsupported, "--aggregate: the kernel counts no samples of {}: {}",
                    event.parsed.name, std::strerror(set.error()));
    }
  }
  if (!any)
    return fail(ErrorCode::kFailed, "--aggregate: no event takes samples: choose others with -e");
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec each_second{{1, 0}, {1, 0}};
  ::timerfd_settime(timer.get(), 0, &each_second, nullptr);
  return AggregateRecorder(std::move(events), capture, unwinding, std::move(timer),
                           options.sampling.aggregation.window_s * kNsPerSecond);
}

bool AggregateRecorder::is_due() {
  uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof expirations) < 0) return false;
  constexpr uint64_t kHalfATick = 500'000'000;
  if (unwinding_ != nullptr) unwinding_->look();
  return monotonic_ns() - began_ns_ + kHalfATick >= window_ns_ ||
         (unwinding_ != nullptr && unwinding_->is_nearly_full()) ||
         std::ranges::any_of(events_,
                             [](const Summed& summed) { return summed.sums.is_nearly_full(); });
}

void AggregateRecorder::write(ByteBuilder& out) {
  began_ns_ = monotonic_ns();
  for (Summed& summed : events_) write(summed.sums.take(), summed.event, out);
  if (unwinding_ != nullptr) write(unwinding_->take_sums(), nullptr, out);
}

/// `event`: that of all rows; null: they say which.
void AggregateRecorder::write(StackSumWindow window, const CaptureEvent* event, ByteBuilder& out) {
  std::vector<std::byte> mappings;
  for (StackSumRow& row : window.rows) {
    const CaptureEvent& of = event != nullptr ? *event : capture_.events[row.event];
    Sample sample;
    if (!of.opened.empty()) sample.id.id = sample.id.stream_id = of.opened.front().id;
    sample.id.pid = row.pid;
    sample.id.tid = row.tid;
    sample.id.cpu = row.cpu;
    sample.id.time = row.last_ns;
    sample.period = row.period;
    if (event == nullptr) {
      mappings.clear();
      unwinding_->complete(row, sample, mappings);
      out.bytes(mappings);
    }
    ByteBuilder chain;
    set_call_chain(row.kernel_chain, row.user_chain, sample, chain);
    // In an interpreter's loop, the instruction is that of the function.
    if (chain.size() == 0 || event != nullptr) sample.ip = row.ip;
    if (chain.size() == 0 && static_cast<int64_t>(row.ip) < 0) sample.misc = abi::kMiscKernel;
    encode_sample(sample, of.attr(), out);
    samples_ += row.count;
  }
  rows_ += window.rows.size();
  written_ += window.written;
}

void AggregateRecorder::report(const RecordOptions& options, Env& env) const {
  std::string others;
  if (written_ > 0) others = fmt::format(", {} written one by one", written_);
  say(options, env,
      fmt::format("[ {} record: {} samples counted in {} sums{} ]", env.tool, samples_, rows_,
                  others));
}

}  // namespace sonde
