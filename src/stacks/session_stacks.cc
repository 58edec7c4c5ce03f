#include "stacks/session_stacks.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "perfdata/records/off_cpu_sample.h"
#include "profile/call_trie.h"
#include "profile/keys/wait_reason.h"
#include "profile/keys/wakers.h"
#include "profile/path_order.h"
#include "stacks/alike_paths.h"
#include "stacks/session_spellings.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Turns samples into uses of chains, and uses into a tree.
class SessionStacks {
 public:
  SessionStacks(const Session& session, const SessionStacksOptions& options)
      : session_(session), options_(options), samples_(session.samples()), wakers_(session) {}

  Result<StackProfile> build() && {
    TRY(make_columns());
    if (!add_samples()) return too_many();
    if (!make_tree()) return too_many();
    if (options_.want_samples) list_samples();
    return std::move(profile_);
  }

 private:
  Result<> make_columns() {
    const std::vector<EventDesc>& events = session_.events().all();
    for (const std::string& wanted : options_.events)
      if (std::ranges::find(events, wanted, &EventDesc::name) == events.end())
        return fail(ErrorCode::kUsage, "there is no event '{}' in this recording; it has {}",
                    wanted, names_of(events));
    std::vector<uint64_t> counts(events.size());
    for (uint32_t event : samples_.event) ++counts[event];
    column_of_event_.assign(events.size(), kNone);
    for (size_t i = 0; i < events.size(); ++i) {
      bool is_wanted =
          options_.events.empty()
              ? counts[i] > 0
              : std::ranges::find(options_.events, events[i].name) != options_.events.end();
      if (!is_wanted) continue;
      column_of_event_[i] = static_cast<uint32_t>(profile_.columns.size());
      StackColumn& column = profile_.columns.emplace_back();
      column.name = events[i].name;
      column.unit = unit_of(events[i]);
    }
    return {};
  }
  /// Every column has a value for every stack.
  [[nodiscard]] bool has_room_for(size_t stacks) const {
    constexpr size_t kMaxValues = size_t{1} << 27;
    return profile_.columns.size() <= 1 || stacks <= kMaxValues / profile_.columns.size();
  }
  [[nodiscard]] std::unexpected<Error> too_many() const {
    return fail(ErrorCode::kUnsupported,
                "{}: {} events with all their stacks are too much at once; choose an event (-e)",
                session_.recording().facts().path, profile_.columns.size());
  }
  static std::string names_of(const std::vector<EventDesc>& events) {
    std::string names;
    for (const EventDesc& event : events) {
      if (!names.empty()) names += ", ";
      names += event.name;
    }
    return names;
  }
  [[nodiscard]] std::string unit_of(const EventDesc& event) const {
    if (options_.value == StackValue::kSamples) return "samples";
    bool is_clock =
        event.attr.type == abi::kTypeSoftware &&
        (event.attr.config == abi::kSwCpuClock || event.attr.config == abi::kSwTaskClock);
    bool is_time = is_clock || is_off_cpu_event(event.attr, event.name);
    return is_time ? "nanoseconds" : "events";
  }

  // Samples to uses.

  /// False if there is not enough memory for all.
  bool add_samples() {
    // Reserves only address space, so that growing does not copy.
    uses_.reserve(samples_.size());
    if (has_room_for(samples_.size())) values_.reserve(samples_.size() * profile_.columns.size());
    use_of_chain_.assign(session_.chains().size(), kNone);
    if (options_.want_samples) use_of_sample_.assign(samples_.size(), kNone);
    for (size_t i = 0; i < samples_.size(); ++i) {
      prefetch_use(i);
      uint32_t column = column_of_event_[samples_.event[i]];
      if (column == kNone || (options_.filter && !options_.filter(i))) continue;
      uint32_t use = use_of(i);
      if (!has_room_for(uses_.size())) return false;
      values_[use * profile_.columns.size() + column] += value_of(i);
      ++profile_.columns[column].samples;
      if (options_.want_samples) use_of_sample_[i] = use;
    }
    return true;
  }
  /// Chains come back in any order: what is known of those of the next samples is fetched some time
  /// before it is needed.
  void prefetch_use(size_t sample) const {
    constexpr size_t kChainAhead = 32, kUseAhead = 16;
    size_t count = samples_.chain.size();
    if (sample + kChainAhead < count)
      if (ChainId chain = samples_.chain[sample + kChainAhead]; chain.valid()) {
        __builtin_prefetch(&use_of_chain_[chain.index()]);
        session_.chains().prefetch(chain);
      }
    if (sample + kUseAhead < count)
      if (ChainId chain = samples_.chain[sample + kUseAhead]; chain.valid())
        if (uint32_t use = use_of_chain_[chain.index()]; use != kNone) {
          __builtin_prefetch(&uses_[use]);
          __builtin_prefetch(&values_[use * profile_.columns.size()]);
        }
  }
  [[nodiscard]] double value_of(size_t sample) const {
    return options_.value == StackValue::kPeriod ? static_cast<double>(samples_.period[sample]) : 1;
  }
  uint32_t use_of(size_t sample) {
    uint32_t group = group_of(sample);
    ChainId chain = samples_.chain_of(sample);
    if (options_.wait_reasons && wakers_.any() && is_wait(sample))
      if (auto use = use_of_woken(group, sample)) return *use;
    if (!chain.valid()) return use_of_leaf(group, sample);
    uint32_t& first = use_of_chain_[chain.index()];
    if (first == kNone) return first = add_use(session_.chains()[chain], group);
    if (uses_[first].group == group) return first;
    auto [entry, is_new] = shared_chains_.try_emplace((uint64_t{group} << 32) | chain.value,
                                                      static_cast<uint32_t>(uses_.size()));
    if (is_new) add_use(session_.chains()[chain], group);
    return entry->second;
  }
  /// For a wait whose waker is known: the thread's own stack, then a mark, the waker's stack upside
  /// down, and its name, like bcc's offwaketime. Empty if the waker is not known.
  std::optional<uint32_t> use_of_woken(uint32_t group, size_t sample) {
    Sample content;
    session_.decode(sample, content);
    auto waker = wakers_.of(content);
    if (!waker) return std::nullopt;
    std::span<const FrameId> own, others = wakers_.chain(*waker);
    if (ChainId chain = samples_.chain_of(sample); chain.valid()) own = session_.chains()[chain];
    std::vector<FrameId>& steps = woken_steps_.emplace_back();
    steps.push_back(mark_frame(wakers_.name(*waker)));
    steps.insert(steps.end(), others.rbegin(), others.rend());
    steps.push_back(mark_frame("--"));
    steps.insert(steps.end(), own.begin(), own.end());
    return add_use(steps, group);
  }
  /// An additional frame, after those of the session.
  FrameId mark_frame(std::string_view text) {
    StringId name = profile_.strings->intern(text);
    auto [entry, is_new] =
        number_of_mark_.try_emplace(name.value, static_cast<uint32_t>(marks_.size()));
    if (is_new) marks_.push_back(name);
    return FrameId(session_.frames().size() + entry->second);
  }
  /// For a sample without a call chain: the sampled location itself.
  uint32_t use_of_leaf(uint32_t group, size_t sample) {
    uint64_t key = (uint64_t{group} << 32) | samples_.leaf[sample].value;
    auto [entry, is_new] = use_of_leaf_.try_emplace(key, static_cast<uint32_t>(uses_.size()));
    if (is_new) add_use({&samples_.leaf[sample], 1}, group);
    return entry->second;
  }
  uint32_t add_use(std::span<const FrameId> steps, uint32_t group) {
    PathUse& use = uses_.emplace_back();
    use.steps = steps.data();
    use.length = static_cast<uint32_t>(steps.size());
    use.group = group;
    use.own = 0;
    values_.resize(values_.size() + profile_.columns.size());
    return static_cast<uint32_t>(uses_.size() - 1);
  }
  /// The root of a sample's stack.
  uint32_t group_of(size_t sample) {
    if (!options_.task_root) return 0;
    const SpellingOptions& spelling = options_.spelling;
    bool by_task = spelling.pid || spelling.tid;
    uint64_t key = samples_.comm[sample].value;
    if (options_.wait_reasons && is_wait(sample)) return group_of_wait(sample);
    if (key == last_group_key_ && !by_task) return last_group_;
    uint32_t pid = spelling.pid || spelling.tid ? samples_.pid[sample] : 0;
    uint32_t tid = spelling.tid ? samples_.tid[sample] : 0;
    auto [entry, is_new] = groups_.try_emplace({key, (uint64_t{pid} << 32) | tid}, kNone);
    if (is_new) {
      std::string name = spell_task(session_.strings().view(samples_.comm[sample]),
                                    recorded_task(pid), recorded_task(tid), spelling);
      entry.value() = group_of_name(name);
    }
    last_group_key_ = key;
    return last_group_ = entry->second;
  }
  [[nodiscard]] bool is_wait(size_t sample) const {
    const EventDesc& event = session_.events()[EventId(size_t{samples_.event[sample]})];
    return is_off_cpu_event(event.attr, event.name);
  }
  uint32_t group_of_wait(size_t sample) {
    Sample content;
    session_.decode(sample, content);
    ChainId chain = samples_.chain_of(sample);
    std::span<const FrameId> frames;
    if (chain.valid()) frames = session_.chains()[chain];
    WaitReason reason = wait_reasons_.of(content, chain, frames, [this](FrameId id) {
      SymbolId symbol = session_.frames()[id.index()].symbol;
      return symbol.valid() ? std::string_view(session_.symbolizer().label(symbol))
                            : std::string_view();
    });
    std::string task = spell_task(session_.strings().view(samples_.comm[sample]),
                                  recorded_task(samples_.pid[sample]),
                                  recorded_task(samples_.tid[sample]), options_.spelling);
    return group_of_name(fmt::format("{} [{}]", task, wait_reason_name(reason)));
  }
  uint32_t group_of_name(const std::string& name) {
    StringId id = profile_.strings->intern(name);
    auto [entry, is_new] =
        group_of_name_.try_emplace(id.value, static_cast<uint32_t>(group_names_.size()));
    if (is_new) group_names_.push_back(id);
    return entry->second;
  }

  // Uses to a tree.

  /// Sorts the groups by name.
  void sort_groups() {
    std::vector<uint32_t> order(group_names_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {},
                      [&](uint32_t group) { return profile_.text(group_names_[group]); });
    std::vector<uint32_t> rank(order.size());
    std::vector<StringId> names;
    for (uint32_t group : order) {
      rank[group] = static_cast<uint32_t>(names.size());
      names.push_back(group_names_[group]);
    }
    group_names_ = std::move(names);
    for (PathUse& use : uses_) use.group = rank[use.group];
  }

  /// False if there is not enough memory.
  bool make_tree() {
    if (options_.task_root) sort_groups();
    SessionSpellings spellings(session_, options_, profile_);
    std::vector<uint32_t> spelling_of = spellings.spell_all(marks_);
    uint64_t min_weight = weigh_uses();
    node_of_use_ = join_alike_paths(uses_, spelling_of);
    LargeVector<uint32_t> node_of_path = make_trie(uses_, spelling_of, min_weight);
    if (!has_room_for(trie_.size())) return false;
    for (uint32_t& use : node_of_use_) use = node_of_path[use];
    if (options_.task_root)
      for (StringId name : group_names_) {
        group_frames_.emplace_back(profile_.frames.size());
        profile_.frames.push_back({.name = name, .kind = FrameKind::kTask});
      }
    if (spellings.one_frame_each())
      copy_trie(spellings);
    else
      merge_trie(spellings);
    return true;
  }

  /// Gives each use its weight, as a fraction of kWhole in each column; returns the weight that
  /// `least_share` demands.
  uint64_t weigh_uses() {
    if (options_.least_share <= 0) return 0;
    constexpr double kWhole = 1e15;
    size_t columns = profile_.columns.size();
    std::vector<double> totals(columns);
    for (size_t i = 0; i < values_.size(); ++i) totals[i % columns] += values_[i];
    for (size_t use = 0; use < uses_.size(); ++use)
      for (size_t i = 0; i < columns; ++i)
        if (totals[i] > 0)
          uses_[use].period +=
              static_cast<uint64_t>(kWhole * values_[use * columns + i] / totals[i]);
    return static_cast<uint64_t>(kWhole * std::min(options_.least_share, 1.0)) + 1;
  }

  /// The node of each path.
  LargeVector<uint32_t> make_trie(std::span<const PathUse> paths,
                                  std::span<const uint32_t> spelling_of, uint64_t min_weight) {
    auto ignore = [](const CallTrie::ClosedRun& /*run*/) {};
    LargeVector<OrderedPath> order =
        order_paths(paths, spelling_of, {.from_root = true, .min_weight = min_weight});
    LargeVector<uint32_t> node_of_path(paths.size());
    std::vector<uint32_t> keys;
    uint32_t group = kNone;
    for (size_t i = 0; i < order.size(); ++i) {
      prefetch_uses(paths, order, i);
      if (order[i].is_alike != 0) {
        node_of_path[order[i].use] = node_of_path[order[i - 1].use];
        continue;
      }
      const PathUse& path = paths[order[i].use];
      if (path.group != group) trie_.add_root(group = path.group, ignore);
      keys.clear();
      for (uint32_t step = 0; step < order[i].kept; ++step)
        keys.push_back(key_at(path, step, spelling_of, true));
      node_of_path[order[i].use] = trie_.append(keys, ignore);
    }
    trie_.finish(ignore);
    return node_of_path;
  }

  /// If the trie is the tree, except for the root of profiles without one.
  void copy_trie(const SessionSpellings& spellings) {
    uint32_t skipped = options_.task_root || trie_.size() == 0 ? 0 : 1;
    profile_.nodes.resize(trie_.size() - skipped);
    for (uint32_t node = skipped; node < trie_.size(); ++node) {
      StackNode& made = profile_.nodes[node - skipped];
      made.end = trie_.end_of(node) - skipped;
      if (trie_.is_root(node)) {
        made.frame = group_frames_[trie_.key(node)];
        continue;
      }
      made.frame = spellings.frames_of(trie_.key(node)).front();
      uint32_t parent = trie_.parent(node);
      if (parent >= skipped) made.parent = StackNodeId(parent - skipped);
    }
    for (StackColumn& column : profile_.columns) column.self.resize(profile_.nodes.size());
    add_values([&](uint32_t node) {
      return node < skipped ? StackNodeId() : StackNodeId(node - skipped);
    });
  }

  void add_values(const std::function<StackNodeId(uint32_t)>& node_of) {
    size_t columns = profile_.columns.size();
    for (size_t use = 0; use < node_of_use_.size(); ++use) {
      StackNodeId node = node_of(node_of_use_[use]);
      node_of_use_[use] = node.value;
      for (size_t i = 0; i < columns; ++i) {
        StackColumn& column = profile_.columns[i];
        (node.valid() ? column.self[node.index()] : column.without_stack) +=
            values_[use * columns + i];
      }
    }
  }

  /// If one step stands for several frames, paths that are separate in the trie may merge. Only
  /// names of generated code cause that.
  void merge_trie(const SessionSpellings& spellings) {
    std::vector<uint64_t> samples;
    for (StackColumn& column : profile_.columns) samples.push_back(column.samples);
    StackTreeBuilder builder(std::move(profile_));
    std::vector<StackNodeId> made(trie_.size());
    for (uint32_t node = 0; node < trie_.size(); ++node) {
      if (trie_.is_root(node)) {
        if (options_.task_root)
          made[node] = builder.child(StackNodeId(), group_frames_[trie_.key(node)]);
        continue;
      }
      StackNodeId at = made[trie_.parent(node)];
      for (StackFrameId frame : spellings.frames_of(trie_.key(node))) at = builder.child(at, frame);
      made[node] = at;
    }
    for (size_t use = 0; use < node_of_use_.size(); ++use) {
      StackNodeId node = made[node_of_use_[use]];
      for (size_t i = 0; i < samples.size(); ++i)
        builder.add(node, i, values_[use * samples.size() + i]);
      node_of_use_[use] = node.value;
    }
    std::vector<StackNodeId> new_numbers;
    profile_ = std::move(builder).finish(&new_numbers);
    for (uint32_t& node : node_of_use_)
      if (node != kNone) node = new_numbers[node].value;
    for (size_t i = 0; i < samples.size(); ++i) profile_.columns[i].samples = samples[i];
  }

  // Individual samples.

  struct TaskHash {
    size_t operator()(const std::pair<uint64_t, uint64_t>& key) const {
      return NumberHash()(NumberHash()(key.first) + key.second);
    }
  };
  void list_samples() {
    StackSamples& out = profile_.samples;
    for (uint32_t sample : session_.time_order()) {
      uint32_t use = use_of_sample_[sample];
      if (use == kNone) continue;
      out.node.push_back(node_of_use_[use] == kNone ? StackNodeId()
                                                    : StackNodeId(node_of_use_[use]));
      out.column.push_back(column_of_event_[samples_.event[sample]]);
      out.thread.push_back(thread_of(sample));
      out.cpu.push_back(samples_.cpu[sample]);
      out.time_ns.push_back(samples_.time[sample]);
      out.value.push_back(value_of(sample));
      out.place.push_back(samples_.leaf[sample].value);
    }
  }
  /// The thread under the name that it had then, in the program that its process ran then.
  uint32_t thread_of(uint32_t sample) {
    uint32_t pid = samples_.pid[sample];
    uint32_t tid = samples_.tid[sample];
    StringId name = samples_.comm[sample];
    StringId program = program_of(pid, samples_.time[sample]);
    auto [entry, is_new] = threads_.try_emplace(
        {(uint64_t{pid} << 32) | tid, (uint64_t{name.value} << 32) | program.value},
        static_cast<uint32_t>(profile_.threads.size()));
    if (is_new)
      profile_.threads.push_back({.pid = pid,
                                  .tid = tid,
                                  .name = shown_name(tid, name),
                                  .process_name = shown_name(pid, program)});
    return entry->second;
  }
  StringId program_of(uint32_t pid, uint64_t time) {
    auto [entry, is_new] = programs_.try_emplace(pid);
    Machine::CommAt& known = entry.value();
    if (is_new || time < known.valid_from || time >= known.valid_to)
      known = session_.machine().program_at(pid, time);
    return known.comm;
  }
  /// Exports tell tasks apart by number: a guest's keep those that the session gave them.
  StringId shown_name(uint32_t task, StringId name) {
    std::string_view text = session_.strings().view(name);
    auto machine_pid = session_.machine().machine_pid_of(task);
    if (!machine_pid) return profile_.strings->intern(text);
    return profile_.strings->intern(
        fmt::format("{} ({} of guest {})", text, recorded_task(task), *machine_pid));
  }

  const Session& session_;
  const SessionStacksOptions& options_;
  const SampleColumns& samples_;
  StackProfile profile_;
  std::vector<uint32_t> column_of_event_;

  tsl::robin_map<std::pair<uint64_t, uint64_t>, uint32_t, TaskHash> groups_;
  std::vector<StringId> group_names_;
  tsl::robin_map<uint32_t, uint32_t> group_of_name_;
  WaitReasons wait_reasons_;
  Wakers wakers_;
  std::vector<StringId> marks_;
  tsl::robin_map<uint32_t, uint32_t> number_of_mark_;
  std::deque<std::vector<FrameId>> woken_steps_;  // of uses
  std::vector<StackFrameId> group_frames_;
  uint64_t last_group_key_ = UINT64_MAX;
  uint32_t last_group_ = 0;

  LargeVector<PathUse> uses_;
  LargeVector<double> values_;                                    // by use and column
  LargeVector<uint32_t> use_of_chain_;                            // the first
  tsl::robin_map<uint64_t, uint32_t, NumberHash> shared_chains_;  // the others, by root and chain
  tsl::robin_map<uint64_t, uint32_t, NumberHash> use_of_leaf_;
  LargeVector<uint32_t> use_of_sample_;
  tsl::robin_map<std::pair<uint64_t, uint64_t>, uint32_t, TaskHash> threads_;
  tsl::robin_map<uint32_t, Machine::CommAt> programs_;  // by process: the latest
  CallTrie trie_;
  LargeVector<uint32_t> node_of_use_;  // first nodes of the trie, finally of the profile
};

}  // namespace

Result<StackProfile> stacks_of(const Session& session, const SessionStacksOptions& options) {
  return SessionStacks(session, options).build();
}

}  // namespace sonde
