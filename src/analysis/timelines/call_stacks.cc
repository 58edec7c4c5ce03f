#include "analysis/timelines/call_stacks.h"

#include <map>
#include <utility>

#include "analysis/timelines/call_timeline.h"
#include "stacks/frame_spelling.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

class CallStacks {
 public:
  CallStacks(const view::Timeline& timeline, bool want_samples, const SpellingOptions& spelling)
      : timeline_(timeline), want_samples_(want_samples), spelling_(spelling) {
    column_ = builder_.add_column("traced-time", "nanoseconds");
    std::vector<SpelledFrame> spelled;
    for (const view::TimelineFunction& function : timeline.functions) {
      spelled.clear();
      spell_frame({.function = function.name,
                   .object = function.object,
                   .kind = function.is_kernel ? FrameKind::kKernel : FrameKind::kUser,
                   .is_shown_name = true},
                  spelling, spelled);
      std::vector<StackFrameId>& frames = frames_.emplace_back();
      for (const SpelledFrame& frame : spelled)
        frames.push_back(builder_.frame({.name = builder_.intern(frame.name),
                                         .object = builder_.intern(function.object),
                                         .kind = frame.kind}));
    }
  }

  StackProfile build() && {
    for (const view::TimelineThread& thread : timeline_.threads)
      if (thread.is_shown) add(thread);
    return std::move(builder_).finish();
  }

 private:
  struct Open {
    StackNodeId node;
    uint32_t function;
    uint64_t end_ns;
  };

  void add(const view::TimelineThread& thread) {
    known_threads_.clear();
    bool is_renamed = !thread.names.empty();
    take_name(thread, is_renamed ? thread.names.front().name : thread.name,
              is_renamed ? thread.names.front().process_name : thread.process_name);
    size_t next_name = 1;
    auto go_to = [&](uint64_t time_ns) {
      for (; next_name < thread.names.size() && thread.names[next_name].from_ns <= time_ns;
           ++next_name) {
        const view::TimelineName& name = thread.names[next_name];
        close_until(name.from_ns);
        advance(name.from_ns);
        take_name(thread, name.name, name.process_name);
      }
      close_until(time_ns);
    };
    for (const view::TimelineCall& call : thread.calls) {
      go_to(call.start_ns);
      advance(call.start_ns);
      at_ns_ = call.start_ns;
      open_.push_back({call_from(open_.empty() ? root_ : open_.back().node, call.function),
                       call.function, call.end_ns});
    }
    go_to(UINT64_MAX);
  }
  StackNodeId call_from(StackNodeId node, uint32_t function) {
    for (StackFrameId frame : frames_[function]) node = builder_.child(node, frame);
    return node;
  }
  /// From here on, time is of the thread under this name, in the calls that it is in.
  void take_name(const view::TimelineThread& thread, const std::string& name,
                 const std::string& process_name) {
    std::string task = spell_task(name, thread.pid, thread.tid, spelling_);
    root_ = builder_.child(
        StackNodeId(), builder_.frame({.name = builder_.intern(task), .kind = FrameKind::kTask}));
    StackNodeId node = root_;
    for (Open& open : open_) open.node = node = call_from(node, open.function);
    auto [entry, is_new] = known_threads_.try_emplace({name, process_name}, 0u);
    if (is_new)
      entry->second = static_cast<uint32_t>(
          builder_.add_thread({.pid = thread.pid,
                               .tid = thread.tid,
                               .name = builder_.intern(name),
                               .process_name = builder_.intern(process_name)}));
    thread_ = entry->second;
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
  SpellingOptions spelling_;
  StackTreeBuilder builder_;
  size_t column_ = 0;
  std::vector<std::vector<StackFrameId>> frames_;  // by function
  StackNodeId root_;
  uint32_t thread_ = 0;
  std::map<std::pair<std::string, std::string>, uint32_t> known_threads_;  // by its names
  std::vector<Open> open_;                                                 // outermost first
  uint64_t at_ns_ = 0;  // accounted for until then
};

}  // namespace

Result<StackProfile> call_stacks_of(Session& session, const SessionStacksOptions& options) {
  const char* about_samples = !options.events.empty()                 ? "-e"
                              : options.value == StackValue::kSamples ? "--samples"
                              : options.spelling.lines                ? "--srcline"
                              : options.spelling.addresses            ? "--addrs"
                                                                      : nullptr;
  if (about_samples != nullptr)
    return fail(ErrorCode::kFailed,
                "{} is about samples, of which --itrace without options makes none: it "
                "shows the time of whole calls; --itrace=ig makes samples",
                about_samples);
  return call_stacks(TRY(call_timeline_of(session)).timeline, options.want_samples,
                     options.spelling);
}

StackProfile call_stacks(const view::Timeline& timeline, bool want_samples,
                         const SpellingOptions& spelling) {
  return CallStacks(timeline, want_samples, spelling).build();
}

}  // namespace sonde
