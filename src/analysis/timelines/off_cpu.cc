#include "analysis/timelines/off_cpu.h"

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "base/text.h"
#include "stacks/stack_tree_builder.h"
#include "stacks/threads_over_time.h"

namespace sonde {
namespace {

using view::kNoIndex;

constexpr std::string_view kEventName = "off-cpu";
constexpr std::string_view kBetweenStacks = "--";
constexpr std::string_view kWakerMark = "_[w]";

bool is_wait(const view::TimelineSlice& slice) {
  return slice.state != view::TaskState::kRunning && slice.state != view::TaskState::kRunnable &&
         !slice.is_cut;
}

/// The frames that already exist, by name: those of functions, and the roots.
class KnownFrames {
 public:
  KnownFrames() = default;
  explicit KnownFrames(const StackProfile& profile) {
    for (size_t i = 0; i < profile.frames.size(); ++i) {
      const StackFrame& frame = profile.frames[i];
      by_name_[frame.kind == FrameKind::kTask].try_emplace(frame.name.value, StackFrameId(i));
    }
  }
  StackFrameId find_or_make(StackTreeBuilder& builder, std::string_view name,
                            FrameKind kind) const {
    StringId id = builder.intern(name);
    const auto& known = by_name_[kind == FrameKind::kTask];
    auto found = known.find(id.value);
    return found != known.end() ? found->second : builder.frame({.name = id, .kind = kind});
  }

 private:
  tsl::robin_map<uint32_t, StackFrameId> by_name_[2];
};

/// The nodes of waits. Equal stacks share their nodes.
class WaitStacks {
 public:
  WaitStacks(StackTreeBuilder& builder, const view::Timeline& timeline, KnownFrames known)
      : builder_(builder), timeline_(timeline), known_(std::move(known)) {}

  /// `task`: the thread's name at the time.
  StackNodeId node_of(std::string_view task, const view::TimelineSlice& wait) {
    StackFrameId root = known_.find_or_make(builder_, task, FrameKind::kTask);
    StackNodeId own = own_stack(root, wait.stack);
    if (wait.waker == kNoIndex && wait.waker_stack == kNoIndex) return own;
    StackNodeId woken = waker_stack(own, wait.waker_stack);
    if (wait.waker == kNoIndex || timeline_.threads[wait.waker].name.empty()) return woken;
    return builder_.child(woken, waker_frame(timeline_.threads[wait.waker].name));
  }

 private:
  using Nodes = tsl::robin_map<uint64_t, StackNodeId, NumberHash>;

  StackNodeId own_stack(StackFrameId root, uint32_t stack) {
    auto [entry, is_new] = own_.try_emplace(uint64_t{root.value} << 32 | stack);
    if (!is_new) return entry->second;
    StackNodeId node = builder_.child(StackNodeId(), root);
    for (std::string_view name : names_of(stack))
      node = builder_.child(node, known_.find_or_make(builder_, name, FrameKind::kUser));
    return entry.value() = node;
  }
  StackNodeId waker_stack(StackNodeId own, uint32_t stack) {
    auto [entry, is_new] = woken_.try_emplace(uint64_t{own.value} << 32 | stack);
    if (!is_new) return entry->second;
    StackNodeId node = builder_.child(
        own, builder_.frame({.name = builder_.intern(kBetweenStacks), .kind = FrameKind::kWaker}));
    std::vector<std::string_view> names = names_of(stack);
    for (size_t i = names.size(); i-- > 0;) node = builder_.child(node, waker_frame(names[i]));
    return entry.value() = node;
  }
  StackFrameId waker_frame(std::string_view name) {
    std::string marked(name);
    marked += kWakerMark;
    return builder_.frame({.name = builder_.intern(marked), .kind = FrameKind::kWaker});
  }
  [[nodiscard]] std::vector<std::string_view> names_of(uint32_t stack) const {
    if (stack == kNoIndex) return {};
    return split(timeline_.stacks[stack], ';');
  }

  StackTreeBuilder& builder_;
  const view::Timeline& timeline_;
  KnownFrames known_;
  Nodes own_;    // by root and stack
  Nodes woken_;  // by node of the thread's own stack and by the waker's stack
};

double length_of(const view::TimelineSlice& slice) {
  return static_cast<double>(slice.end_ns - slice.start_ns);
}

/// Takes a profile apart and rebuilds it with more stacks.
class WaitsIntoProfile {
 public:
  WaitsIntoProfile(StackProfile profile, const view::Timeline& timeline)
      : timeline_(timeline),
        over_time_(profile),
        names_(names_of(profile)),
        nodes_(std::move(profile.nodes)),
        samples_(std::move(profile.samples)),
        columns_(profile.columns),
        known_(profile),
        builder_(without_weights(std::move(profile))) {}

  ProfileWithWaits build() && {
    copy_nodes();
    add_waits();
    std::vector<StackNodeId> new_numbers;
    ProfileWithWaits made{std::move(builder_).finish(&new_numbers), {}};
    for (size_t i = 0; i < columns_.size(); ++i)
      made.profile.columns[i].samples = columns_[i].samples;
    for (StackNodeId& node : samples_.node)
      if (node.valid()) node = new_numbers[made_[node.index()].index()];
    merge_samples(made);
    return made;
  }

 private:
  using ThreadNumbers = tsl::robin_map<uint32_t, uint32_t, NumberHash>;  // by tid

  static std::vector<std::string> names_of(const StackProfile& profile) {
    std::vector<std::string> names;
    for (const StackThread& thread : profile.threads) names.emplace_back(profile.text(thread.name));
    return names;
  }
  static StackProfile without_weights(StackProfile profile) {
    for (StackColumn& column : profile.columns) column.self.clear();
    profile.nodes = {};
    profile.samples = {};
    return profile;
  }
  void copy_nodes() {
    made_.resize(nodes_.size());
    for (size_t i = 0; i < made_.size(); ++i) {
      StackNodeId parent = nodes_[i].parent;
      made_[i] =
          builder_.child(parent.valid() ? made_[parent.index()] : StackNodeId(), nodes_[i].frame);
      for (size_t column = 0; column < columns_.size(); ++column)
        builder_.add(made_[i], column, columns_[column].self[i]);
    }
  }
  void add_waits() {
    WaitStacks stacks(builder_, timeline_, std::move(known_));
    size_t column = builder_.add_column(kEventName, "nanoseconds");
    for (const view::TimelineThread& thread : timeline_.threads) {
      if (thread.slices.empty()) continue;
      for (const view::TimelineSlice& slice : thread.slices) {
        if (!is_wait(slice)) continue;
        uint32_t number = number_of(thread, slice.start_ns);
        builder_.add_sample(stacks.node_of(names_[number], slice), column, length_of(slice),
                            {.time_ns = slice.end_ns, .thread = number, .cpu = slice.cpu});
      }
    }
  }
  /// Under the name that its samples have then.
  uint32_t number_of(const view::TimelineThread& thread, uint64_t time_ns) {
    if (auto known = over_time_.at(thread.tid, time_ns)) return *known;
    auto [entry, is_new] = without_samples_.try_emplace(thread.tid, 0);
    if (!is_new) return entry->second;
    names_.push_back(thread.name);
    return entry.value() = static_cast<uint32_t>(
               builder_.add_thread({.pid = thread.pid,
                                    .tid = thread.tid,
                                    .name = builder_.intern(thread.name),
                                    .process_name = builder_.intern(thread.process_name)}));
  }

  /// Both are in time order.
  void merge_samples(ProfileWithWaits& made) const {
    StackSamples waits = std::exchange(made.profile.samples, {});
    size_t wait = 0;
    auto take = [&](const StackSamples& from, size_t i, uint32_t before) {
      StackSamples& to = made.profile.samples;
      to.node.push_back(from.node[i]);
      to.column.push_back(from.column[i]);
      to.thread.push_back(from.thread[i]);
      to.cpu.push_back(from.cpu[i]);
      to.time_ns.push_back(from.time_ns[i]);
      to.value.push_back(from.value[i]);
      made.sample_before.push_back(before);
    };
    for (size_t i = 0; i < samples_.size(); ++i) {
      for (; wait < waits.size() && waits.time_ns[wait] <= samples_.time_ns[i]; ++wait)
        take(waits, wait, UINT32_MAX);
      take(samples_, i, static_cast<uint32_t>(i));
    }
    for (; wait < waits.size(); ++wait) take(waits, wait, UINT32_MAX);
  }

  const view::Timeline& timeline_;
  // The original profile's.
  ThreadsOverTime over_time_;
  std::vector<std::string> names_;  // of threads, then of those without samples
  LargeVector<StackNode> nodes_;
  StackSamples samples_;
  std::vector<StackColumn> columns_;
  KnownFrames known_;
  ThreadNumbers without_samples_;

  StackTreeBuilder builder_;
  std::vector<StackNodeId> made_;  // by old number
};

}  // namespace

StackProfile off_cpu_stacks(const view::Timeline& timeline) {
  StackTreeBuilder builder;
  size_t column = builder.add_column(kEventName, "nanoseconds");
  WaitStacks stacks(builder, timeline, {});
  for (const view::TimelineThread& thread : timeline.threads)
    for (const view::TimelineSlice& slice : thread.slices)
      if (is_wait(slice)) builder.add(stacks.node_of(thread.name, slice), column, length_of(slice));
  return std::move(builder).finish();
}

ProfileWithWaits with_waits(StackProfile profile, const view::Timeline& timeline) {
  return WaitsIntoProfile(std::move(profile), timeline).build();
}

}  // namespace sonde
