#include "analysis/timelines/timeline_part.h"

#include <algorithm>

namespace sonde {
namespace {

/// For slices, runs and the like. False if nothing is left.
template <typename Span>
bool clip(Span& span, uint64_t from_ns, uint64_t to_ns) {
  span.start_ns = std::max(span.start_ns, from_ns);
  span.end_ns = std::min(span.end_ns, to_ns);
  return span.start_ns < span.end_ns;
}

void crop_thread(view::TimelineThread& thread, uint64_t from_ns, uint64_t to_ns) {
  std::erase_if(thread.slices, [&](view::TimelineSlice& s) { return !clip(s, from_ns, to_ns); });
  std::erase_if(thread.calls, [&](view::TimelineCall& c) { return !clip(c, from_ns, to_ns); });
  std::ranges::fill(thread.state_ns, 0);
  thread.runs = thread.calls.size();
  for (const view::TimelineCall& call : thread.calls)
    if (call.depth == 0)
      thread.state_ns[size_t(view::TaskState::kRunning)] += call.end_ns - call.start_ns;
  for (const view::TimelineSlice& slice : thread.slices) {
    if (slice.state == view::TaskState::kRunning) ++thread.runs;
    if (!slice.is_cut) thread.state_ns[size_t(slice.state)] += slice.end_ns - slice.start_ns;
  }
}

void crop_cpu(view::TimelineCpu& cpu, uint64_t from_ns, uint64_t to_ns) {
  std::erase_if(cpu.runs, [&](view::TimelineRun& run) { return !clip(run, from_ns, to_ns); });
  cpu.busy_ns = 0;
  for (const view::TimelineRun& run : cpu.runs)
    if (!run.is_cut) cpu.busy_ns += run.end_ns - run.start_ns;
  cpu.watched_ns = std::min(cpu.watched_ns, to_ns - from_ns);
}

}  // namespace

void crop(view::Timeline& timeline, uint64_t from_ns, uint64_t to_ns) {
  from_ns = std::max(from_ns, timeline.start_ns);
  to_ns = std::max(from_ns, std::min(to_ns, timeline.end_ns));
  timeline.start_ns = from_ns;
  timeline.end_ns = to_ns;
  for (view::TimelineThread& thread : timeline.threads) crop_thread(thread, from_ns, to_ns);
  for (view::TimelineCpu& cpu : timeline.cpus) crop_cpu(cpu, from_ns, to_ns);
  std::erase_if(timeline.unknown,
                [&](view::TimelineUnknown& span) { return !clip(span, from_ns, to_ns); });
}

void show_threads(view::Timeline& timeline,
                  const std::function<bool(const view::TimelineThread&)>& wanted) {
  for (view::TimelineThread& thread : timeline.threads)
    thread.is_shown = thread.is_shown && wanted(thread);
}

void keep_cpus(view::Timeline& timeline, std::span<const uint32_t> numbers) {
  std::erase_if(timeline.cpus, [&](const view::TimelineCpu& cpu) {
    return std::ranges::find(numbers, cpu.cpu) == numbers.end();
  });
}

}  // namespace sonde
