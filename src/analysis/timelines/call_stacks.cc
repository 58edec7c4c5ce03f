#include "analysis/timelines/call_stacks.h"

#include "analysis/timelines/call_timeline.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

class CallStacks {
 public:
  CallStacks(const view::Timeline& timeline, bool want_samples)
      : timeline_(timeline), want_samples_(want_samples) {
    column_ = builder_.add_column("traced-time", "nanoseconds");
    for (const view::TimelineFunction& function : timeline.functions)
      frames_.push_back(
          builder_.frame({.name = builder_.intern(function.name),
                          .object = builder_.intern(function.object),
                          .kind = function.is_kernel ? FrameKind::kKernel : FrameKind::kUser}));
  }

  StackProfile build() && {
    for (const view::TimelineThread& thread : timeline_.threads)
      if (thread.is_shown) add(thread);
    return std::move(builder_).finish();
  }

 private:
  struct Open {
    StackNodeId node;
    uint64_t end_ns;
  };

  void add(const view::TimelineThread& thread) {
    StackNodeId root = builder_.child(
        StackNodeId(),
        builder_.frame({.name = builder_.intern(thread.name), .kind = FrameKind::kTask}));
    thread_ = static_cast<uint32_t>(
        builder_.add_thread({.pid = thread.pid,
                             .tid = thread.tid,
                             .name = builder_.intern(thread.name),
                             .process_name = builder_.intern(thread.process_name)}));
    for (const view::TimelineCall& call : thread.calls) {
      close_until(call.start_ns);
      advance(call.start_ns);
      at_ns_ = call.start_ns;
      StackNodeId parent = open_.empty() ? root : open_.back().node;
      open_.push_back({builder_.child(parent, frames_[call.function]), call.end_ns});
    }
    close_until(UINT64_MAX);
  }
  /// Calls that end by then.
  void close_until(uint64_t time_ns) {
    while (!open_.empty() && open_.back().end_ns <= time_ns) {
      advance(open_.back().end_ns);
      open_.pop_back();
    }
  }
  void advance(uint64_t to_ns) {
    if (!open_.empty() && to_ns > at_ns_) put(static_cast<double>(to_ns - at_ns_));
    at_ns_ = to_ns;
  }
  void put(double length_ns) {
    if (want_samples_)
      builder_.add_sample(open_.back().node, column_, length_ns,
                          {.time_ns = at_ns_, .thread = thread_});
    else
      builder_.add(open_.back().node, column_, length_ns);
  }

  const view::Timeline& timeline_;
  bool want_samples_;
  StackTreeBuilder builder_;
  size_t column_ = 0;
  std::vector<StackFrameId> frames_;  // by function
  uint32_t thread_ = 0;
  std::vector<Open> open_;  // outermost first
  uint64_t at_ns_ = 0;      // accounted for until then
};

}  // namespace

Result<StackProfile> call_stacks_of(Session& session, const SessionStacksOptions& options) {
  return call_stacks(TRY(call_timeline_of(session)).timeline, options.want_samples);
}

StackProfile call_stacks(const view::Timeline& timeline, bool want_samples) {
  return CallStacks(timeline, want_samples).build();
}

}  // namespace sonde
