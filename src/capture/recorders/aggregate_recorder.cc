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

/// Enough for some seconds of all CPUs at the usual frequencies, within 64 MiB of kernel memory.
uint32_t entries_for(size_t cpus) {
  constexpr size_t kPerCpu = 1024, kLeast = 4096, kMost = 32768;
  return static_cast<uint32_t>(std::clamp(cpus * kPerCpu, kLeast, kMost));
}

}  // namespace

Result<> check_aggregated(const std::vector<CaptureEvent>& events) {
  for (const CaptureEvent& event : events) {
    if (!takes_samples(event)) continue;
    uint32_t type = event.attr().type;
    if (type == abi::kTypeTracepoint || type == abi::kTypeBreakpoint)
      return fail(ErrorCode::kUnsupported,
                  "--aggregate counts samples taken by time or by the processor, not {}: omit it, "
                  "or the option",
                  event.parsed.name);
    if ((event.attr().sample_type & ~kSummable) != 0)
      return fail(ErrorCode::kFailed,
                  "--aggregate keeps sums by thread and call chain (frame pointers); what else the "
                  "samples of {} would hold differs from one to the next: omit those options",
                  event.parsed.name);
  }
  return {};
}

AggregateRecorder::AggregateRecorder(std::vector<Summed> events, Fd timer, uint64_t window_ns)
    : events_(std::move(events)),
      timer_(std::move(timer)),
      window_ns_(window_ns),
      began_ns_(monotonic_ns()) {}

Result<AggregateRecorder> AggregateRecorder::open(Sys& sys, const Capture& capture,
                                                  const RecordOptions& options) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  const SamplingOptions& sampling = options.sampling;
  StackSums::Options wanted;
  wanted.kernel_chains = !sampling.all_user && !sampling.user_callchains;
  wanted.user_chains = !sampling.all_kernel && !sampling.kernel_callchains;
  wanted.by_cpu = sampling.cpu;
  if (sampling.max_stack != 0) wanted.depth = sampling.max_stack;
  wanted.most_entries = entries_for(static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));

  std::vector<Summed> events;
  for (const CaptureEvent& event : capture.events) {
    if (!takes_samples(event)) continue;
    Summed& summed = events.emplace_back(&event, TRY(StackSums::open(wanted)));
    for (const OpenedEvent& opened : event.opened) {
      SysResult<int> set = sys.ioctl(opened.fd, PERF_EVENT_IOC_SET_BPF,
                                     static_cast<uint64_t>(summed.sums.program()));
      if (!set)
        return fail(ErrorCode::kUnsupported, "--aggregate: the kernel counts no samples of {}: {}",
                    event.parsed.name, std::strerror(set.error()));
    }
  }
  if (events.empty())
    return fail(ErrorCode::kFailed, "--aggregate: no event takes samples: choose others with -e");
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec each_second{{1, 0}, {1, 0}};
  ::timerfd_settime(timer.get(), 0, &each_second, nullptr);
  return AggregateRecorder(std::move(events), std::move(timer),
                           sampling.aggregation.window_s * kNsPerSecond);
}

bool AggregateRecorder::is_due() {
  uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof expirations) < 0) return false;
  constexpr uint64_t kHalfATick = 500'000'000;
  return monotonic_ns() - began_ns_ + kHalfATick >= window_ns_ ||
         std::ranges::any_of(events_,
                             [](const Summed& summed) { return summed.sums.is_half_full(); });
}

void AggregateRecorder::write(ByteBuilder& out) {
  began_ns_ = monotonic_ns();
  for (Summed& summed : events_) {
    const CaptureEvent& event = *summed.event;
    StackSums::Window window = summed.sums.take();
    Sample sample;
    if (!event.opened.empty()) sample.id.id = sample.id.stream_id = event.opened.front().id;
    for (const StackSums::Row& row : window.rows) {
      ByteBuilder chain;
      set_call_chain(row.kernel_chain, row.user_chain, sample, chain);
      // The chain may have been lost.
      if (chain.size() == 0 && static_cast<int64_t>(row.ip) < 0) sample.misc = abi::kMiscKernel;
      sample.ip = row.ip;
      sample.id.pid = row.pid;
      sample.id.tid = row.tid;
      sample.id.cpu = row.cpu;
      sample.id.time = row.last_ns;
      sample.period = row.period;
      encode_sample(sample, event.attr(), out);
      samples_ += row.count;
    }
    rows_ += window.rows.size();
    lost_samples_ += window.lost_samples;
    lost_chains_ += window.lost_chains;
    if (window.lost_samples > 0) {
      sample.id.time = began_ns_;
      encode(LostSamplesRecord{window.lost_samples}, {.attr = &event.attr(), .id = sample.id}, out);
    }
  }
}

void AggregateRecorder::report(const RecordOptions& options, Env& env) const {
  say(options, env,
      fmt::format("[ {} record: {} samples counted in {} sums ]", env.tool, samples_, rows_));
  if (lost_chains_ > 0)
    say(options, env,
        fmt::format("{} call chains are not in the recording: there was no room between two looks "
                    "at the sums; record with a lower frequency (-F) or shorter chains "
                    "(--call-graph fp,N)",
                    lost_chains_));
}

}  // namespace sonde
