#include "export/page/page_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "stacks/threads_over_time.h"

namespace sonde {
namespace {

class PageCalls {
 public:
  PageCalls(const StackProfile& profile, const view::Timeline& timeline, uint64_t begin_ns)
      : timeline_(timeline), begin_ns_(begin_ns), threads_(profile) {
    find_frames(profile);
  }

  void add_to(PageColumns& columns) && {
    for (const view::TimelineThread& thread : timeline_.threads) add(thread);
    columns.integers("call_thread", thread_);
    columns.integers("call_count", count_);
    columns.integers("call_gap", gap_);
    columns.integers("call_length", length_);
    columns.integers("call_depth", depth_);
    columns.integers("call_frame", frame_);
    columns.integers("call_cut", cut_);
  }

 private:
  void find_frames(const StackProfile& profile) {
    std::map<std::pair<std::string_view, std::string_view>, uint32_t> known;
    for (size_t i = 0; i < profile.frames.size(); ++i) {
      const StackFrame& frame = profile.frames[i];
      if (frame.kind != FrameKind::kTask)
        known.try_emplace({profile.text(frame.name), profile.text(frame.object)},
                          static_cast<uint32_t>(i));
    }
    for (const view::TimelineFunction& function : timeline_.functions) {
      auto found = known.find({function.name, function.object});
      frame_of_.push_back(found == known.end() ? 0 : found->second);
    }
  }
  void add(const view::TimelineThread& thread) {
    uint64_t at_ns = begin_ns_;
    std::optional<uint32_t> last;
    for (const view::TimelineCall& call : thread.calls) {
      auto shown = threads_.at(thread.tid, call.start_ns);
      if (!shown) return;
      // Under its next name a thread has another lane, which begins at the beginning.
      if (shown != last) {
        thread_.push_back(*shown);
        count_.push_back(0);
        at_ns = begin_ns_;
      }
      last = shown;
      ++count_.back();
      uint64_t start_ns = std::max(call.start_ns, at_ns);
      gap_.push_back(start_ns - at_ns);
      length_.push_back(std::max(call.end_ns, start_ns) - start_ns);
      depth_.push_back(call.depth);
      frame_.push_back(frame_of_[call.function]);
      cut_.push_back(call.is_cut ? 1 : 0);
      at_ns = start_ns;
    }
  }

  const view::Timeline& timeline_;
  uint64_t begin_ns_;
  ThreadsOverTime threads_;
  std::vector<uint32_t> frame_of_;  // by function
  std::vector<uint64_t> thread_, count_;
  LargeVector<uint64_t> gap_, length_, depth_, frame_, cut_;
};

}  // namespace

void add_call_columns(PageColumns& columns, const StackProfile& profile,
                      const view::Timeline& timeline, uint64_t begin_ns) {
  PageCalls(profile, timeline, begin_ns).add_to(columns);
}

}  // namespace sonde
