#include "export/page/page_sched.h"

#include <tsl/robin_map.h>

#include <algorithm>

#include "base/number_hash.h"

namespace sonde {
namespace {

class PageSched {
 public:
  PageSched(const StackProfile& profile, const view::Timeline& timeline, uint64_t begin_ns)
      : timeline_(timeline), begin_ns_(begin_ns) {
    for (size_t i = 0; i < profile.threads.size(); ++i)
      thread_of_[profile.threads[i].tid] = static_cast<uint32_t>(i);
  }

  void add_to(PageColumns& columns) && {
    for (const view::TimelineThread& thread : timeline_.threads) add(thread);
    columns.integers("sched_thread", thread_);
    columns.integers("sched_count", count_);
    columns.integers("sched_gap", gap_);
    columns.integers("sched_length", length_);
    columns.integers("sched_state", state_);
    columns.integers("sched_cpu", cpu_);
    columns.integers("sched_waker", waker_);
  }

 private:
  void add(const view::TimelineThread& thread) {
    auto found = thread_of_.find(thread.tid);
    if (found == thread_of_.end() || thread.slices.empty()) return;
    thread_.push_back(found->second);
    count_.push_back(thread.slices.size());
    uint64_t at_ns = begin_ns_;
    for (const view::TimelineSlice& slice : thread.slices) {
      // If events are missing, a slice may begin before the previous one ends.
      uint64_t start_ns = std::max(slice.start_ns, at_ns);
      uint64_t end_ns = std::max(slice.end_ns, start_ns);
      gap_.push_back(start_ns - at_ns);
      length_.push_back(end_ns - start_ns);
      state_.push_back(static_cast<uint32_t>(slice.state));
      cpu_.push_back(slice.cpu == view::kNoIndex ? 0 : uint64_t{slice.cpu} + 1);
      waker_.push_back(number_of_waker(slice.waker));
      at_ns = end_ns;
    }
  }
  [[nodiscard]] uint64_t number_of_waker(uint32_t waker) const {
    if (waker == view::kNoIndex) return 0;
    auto found = thread_of_.find(timeline_.threads[waker].tid);
    return found == thread_of_.end() ? 0 : uint64_t{found->second} + 1;
  }

  const view::Timeline& timeline_;
  uint64_t begin_ns_;
  tsl::robin_map<uint32_t, uint32_t, NumberHash> thread_of_;  // by tid
  std::vector<uint64_t> thread_, count_;
  LargeVector<uint64_t> gap_, length_, state_, cpu_, waker_;
};

}  // namespace

void add_sched_columns(PageColumns& columns, const StackProfile& profile,
                       const view::Timeline& timeline, uint64_t begin_ns) {
  PageSched(profile, timeline, begin_ns).add_to(columns);
}

}  // namespace sonde
