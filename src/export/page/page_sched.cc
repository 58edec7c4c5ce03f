#include "export/page/page_sched.h"

#include <algorithm>
#include <optional>

#include "stacks/threads_over_time.h"

namespace sonde {
namespace {

class PageSched {
 public:
  PageSched(const StackProfile& profile, const view::Timeline& timeline, uint64_t begin_ns)
      : timeline_(timeline), begin_ns_(begin_ns), threads_(profile) {}

  void add_to(PageColumns& columns) && {
    for (const view::TimelineThread& thread : timeline_.threads) add(thread);
    columns.integers("sched_thread", thread_);
    columns.integers("sched_count", count_);
    columns.integers("sched_gap", gap_);
    columns.integers("sched_length", length_);
    columns.integers("sched_state", state_);
    columns.integers("sched_cpu", cpu_);
    columns.integers("sched_waker", waker_);
    columns.integers("sched_ended", ended_);
    columns.integers("sched_span",
                     std::vector{since_begin(timeline_.start_ns), since_begin(timeline_.end_ns)});
    add_unknown(columns);
  }

 private:
  void add(const view::TimelineThread& thread) {
    uint64_t at_ns = begin_ns_;
    std::optional<uint32_t> last;
    for (const view::TimelineSlice& slice : thread.slices) {
      auto shown = threads_.at(thread.tid, slice.start_ns);
      if (!shown) return;
      // What a thread did under its next name stands in another lane, which begins at the
      // beginning.
      if (shown != last) {
        if (last) ended_.back() = since_begin(slice.start_ns) + 1;
        thread_.push_back(*shown);
        count_.push_back(0);
        ended_.push_back(thread.ended_ns == 0 ? 0 : since_begin(thread.ended_ns) + 1);
        at_ns = begin_ns_;
      }
      last = shown;
      ++count_.back();
      // If events are missing, a slice may begin before the previous one ends.
      uint64_t start_ns = std::max(slice.start_ns, at_ns);
      uint64_t end_ns = std::max(slice.end_ns, start_ns);
      gap_.push_back(start_ns - at_ns);
      length_.push_back(end_ns - start_ns);
      state_.push_back(static_cast<uint32_t>(slice.state));
      cpu_.push_back(slice.cpu == view::kNoIndex ? 0 : uint64_t{slice.cpu} + 1);
      waker_.push_back(number_of_waker(slice.waker, slice.end_ns));
      at_ns = end_ns;
    }
  }
  [[nodiscard]] uint64_t since_begin(uint64_t time_ns) const {
    return std::max(time_ns, begin_ns_) - begin_ns_;
  }
  void add_unknown(PageColumns& columns) const {
    std::vector<uint64_t> cpu, start, length;
    for (const view::TimelineUnknown& span : timeline_.unknown) {
      cpu.push_back(span.cpu);
      start.push_back(since_begin(span.start_ns));
      length.push_back(since_begin(span.end_ns) - start.back());
    }
    columns.integers("sched_unknown_cpu", cpu);
    columns.integers("sched_unknown_start", start);
    columns.integers("sched_unknown_length", length);
  }
  [[nodiscard]] uint64_t number_of_waker(uint32_t waker, uint64_t time_ns) const {
    if (waker == view::kNoIndex) return 0;
    auto found = threads_.at(timeline_.threads[waker].tid, time_ns);
    return found ? uint64_t{*found} + 1 : 0;
  }

  const view::Timeline& timeline_;
  uint64_t begin_ns_;
  ThreadsOverTime threads_;
  std::vector<uint64_t> thread_, count_, ended_;
  LargeVector<uint64_t> gap_, length_, state_, cpu_, waker_;
};

}  // namespace

void add_sched_columns(PageColumns& columns, const StackProfile& profile,
                       const view::Timeline& timeline, uint64_t begin_ns) {
  PageSched(profile, timeline, begin_ns).add_to(columns);
}

}  // namespace sonde
