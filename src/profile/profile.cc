#include "profile/profile.h"

#include "abi/perf_event.h"

namespace sonde {

SpanTable::SpanTable(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t owners)
    : starts_(owners + 1, 0), numbers_(pairs.size()) {
  for (const auto& [owner, number] : pairs) ++starts_[owner + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::vector<uint32_t> fill(starts_.begin(), starts_.end() - 1);
  for (const auto& [owner, number] : pairs) numbers_[fill[owner]++] = number;
}

/// Builds in three passes: samples into path ends, path ends up the trie, the trie into rows.
class ProfileBuilder {
 public:
  ProfileBuilder(const ProfileInput& input, KeySet& keys, ProfileOptions options)
      : input_(input), keys_(keys), reader_(input) {
    profile_.options_ = std::move(options);
    profile_.frames_ = std::make_unique<PathFrames>(input, keys, profile_.options_.call_key);
    want_paths_ = profile_.options_.children || profile_.options_.call_graph;
    from_root_ = profile_.options_.caller_order || !profile_.options_.children;
    if (want_paths_) end_of_chain_.assign(input.chains.size(), kNone);
  }

  Profile build(std::span<const uint32_t> samples) && {
    for (uint32_t sample : samples) {
      if (profile_.options_.by_branch)
        add_branches(sample);
      else
        add_sample(sample);
    }
    sum_paths();
    make_own_rows();
    if (profile_.options_.children) make_children_rows();
    total_rows();
    return std::move(profile_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kGroupsWithLastPath = 4096;

  /// The path that was walked last in a group: the next one mostly begins alike.
  struct LastPath {
    std::vector<uint32_t> keys;
    std::vector<uint32_t> nodes;
  };

  void add_sample(uint32_t sample) {
    reader_.move_to(sample);
    FrameId leaf = input_.samples.leaf[sample];
    uint32_t group = keys_.group_of(reader_);
    ChainId chain = want_paths_ ? input_.samples.chain[sample] : ChainId();
    if (chain.valid() && !profile_.options_.is_root_frame.empty()) leaf = root_place(chain, leaf);
    uint32_t own = profile_.frames_->own_place_key(leaf);
    add_to(end_for(group, own, chain, sample), sample, input_.samples.period[sample]);
  }

  void add_branches(uint32_t sample) {
    reader_.move_to(sample);
    size_t count = reader_.details().branch_count();
    for (uint32_t i = 0; i < count; ++i) {
      reader_.move_to(sample, i);
      uint32_t group = keys_.group_of(reader_);
      uint32_t own = profile_.frames_->own_place_key(input_.samples.leaf[sample]);
      add_to(end_at(root_of(group), group, own), sample, 1);
    }
  }

  uint32_t end_for(uint32_t group, uint32_t own, ChainId chain, uint32_t sample) {
    if (!chain.valid()) return end_at(root_of(group), group, own);
    if (profile_.frames_->needs_addresses(chain))
      return end_at(walk_addresses(group, chain, sample), group, own);
    uint32_t& known = end_of_chain_[chain.index()];
    if (known != kNone && profile_.ends_[known].group == group &&
        profile_.ends_[known].place_key == own)
      return known;
    path_.clear();
    for (FrameId frame : kept_frames(chain)) path_.push_back(profile_.frames_->path_key(frame));
    return known = end_at(walk(group), group, own);
  }

  void add_to(uint32_t end_id, uint32_t sample, uint64_t period) {
    PathEnd& end = profile_.ends_[end_id];
    end.period += period;
    ++end.count;
    if (end.first_sample == kNone || earlier(sample, end.first_sample)) end.first_sample = sample;
    ++profile_.totals_.samples;
    profile_.totals_.period += period;
    if (!is_hidden(sample)) ++profile_.totals_.shown_samples;
    if (profile_.options_.by_mode) add_mode(end_id, input_.samples.cpu_mode[sample], period);
  }

  void add_mode(uint32_t end_id, uint8_t mode, uint64_t period) {
    if (modes_of_ends_.size() <= end_id) modes_of_ends_.resize(profile_.ends_.size());
    ModePeriods& periods = modes_of_ends_[end_id];
    switch (mode) {
      case abi::kMiscKernel:
        periods.system += period;
        break;
      case abi::kMiscUser:
        periods.user += period;
        break;
      case abi::kMiscGuestKernel:
        periods.guest_system += period;
        break;
      case abi::kMiscGuestUser:
        periods.guest_user += period;
        break;
      default:
        break;
    }
  }

  [[nodiscard]] bool is_hidden(uint32_t sample) const {
    return !profile_.options_.hidden.empty() && profile_.options_.hidden[sample] != 0;
  }
  [[nodiscard]] bool earlier(uint32_t a, uint32_t b) const {
    uint64_t time_a = input_.samples.time[a];
    uint64_t time_b = input_.samples.time[b];
    return time_a != time_b ? time_a < time_b : a < b;
  }

  // --ignore-callees: the frame nearest to where the walk ends becomes the sample's own place.
  FrameId root_place(ChainId chain, FrameId leaf) const {
    size_t cut = cut_of(chain);
    return cut == kNone ? leaf : within_max_stack(chain)[cut];
  }
  [[nodiscard]] size_t cut_of(ChainId chain) const {
    std::span<const FrameId> frames = within_max_stack(chain);
    const std::vector<uint8_t>& is_root = profile_.options_.is_root_frame;
    if (is_root.empty()) return kNone;
    if (profile_.options_.caller_order) {
      for (size_t i = 0; i < frames.size(); ++i)
        if (is_root[frames[i].index()] != 0) return i;
    } else {
      for (size_t i = frames.size(); i-- > 0;)
        if (is_root[frames[i].index()] != 0) return i;
    }
    return kNone;
  }
  std::span<const FrameId> kept_frames(ChainId chain) const {
    std::span<const FrameId> frames = within_max_stack(chain);
    size_t cut = cut_of(chain);
    if (cut == kNone) return frames;
    return profile_.options_.caller_order ? frames.first(cut + 1) : frames.subspan(cut);
  }
  [[nodiscard]] std::span<const FrameId> within_max_stack(ChainId chain) const {
    std::span<const FrameId> frames = input_.chains[chain];
    size_t kept = std::min<size_t>(frames.size(), profile_.options_.max_stack);
    return profile_.options_.caller_order ? frames.last(kept) : frames.first(kept);
  }

  uint32_t walk_addresses(uint32_t group, ChainId chain, uint32_t sample) {
    const Sample& details = reader_.details();
    std::span<const FrameId> frames = input_.chains[chain];
    std::span<const FrameId> kept = kept_frames(chain);
    size_t first = static_cast<size_t>(kept.data() - frames.data());
    path_.clear();
    size_t at = 0;
    for (size_t word = 0; word < details.callchain.size() && at < frames.size(); ++word) {
      uint64_t ip = details.callchain[word];
      if (abi::is_callchain_context(ip)) continue;
      if (at >= first && at < first + kept.size())
        path_.push_back(profile_.frames_->path_key(CodePlace{frames[at], ip}));
      ++at;
    }
    static_cast<void>(sample);
    return walk(group);
  }

  /// Walks `path_` (sampled place first) into the trie; the node of its last step.
  uint32_t walk(uint32_t group) {
    if (from_root_) std::ranges::reverse(path_);
    LastPath& last = last_path_of(group);
    size_t same = 0;
    size_t limit = std::min(path_.size(), last.keys.size());
    while (same < limit && path_[same] == last.keys[same]) ++same;
    last.keys.resize(same);
    last.nodes.resize(same);
    std::span<const uint32_t> rest = std::span<const uint32_t>(path_).subspan(same);
    uint32_t node = same == 0 ? root_of(group) : last.nodes[same - 1];
    profile_.trie_.descend(node, rest, last.nodes);
    last.keys.insert(last.keys.end(), rest.begin(), rest.end());
    return last.nodes.empty() ? node : last.nodes.back();
  }

  LastPath& last_path_of(uint32_t group) {
    if (group >= kGroupsWithLastPath) {
      other_path_.keys.clear();
      other_path_.nodes.clear();
      return other_path_;
    }
    if (last_paths_.size() <= group) last_paths_.resize(group + 1);
    return last_paths_[group];
  }

  uint32_t root_of(uint32_t group) {
    if (roots_.size() <= group) roots_.resize(group + 1, kNone);
    if (roots_[group] == kNone) roots_[group] = profile_.trie_.add_root(group);
    return roots_[group];
  }

  uint32_t end_at(uint32_t node, uint32_t group, uint32_t own) {
    uint32_t id = end_ids_.intern({node, own});
    if (id == profile_.ends_.size())
      profile_.ends_.push_back({.node = node, .group = group, .place_key = own});
    return id;
  }

  void sum_paths() {
    size_t size = profile_.trie_.size();
    profile_.period_.assign(size, 0);
    profile_.count_.assign(size, 0);
    first_.assign(size, kNone);
    for (const PathEnd& end : profile_.ends_)
      add_below(end.node, end.period, end.count, end.first_sample);
    for (auto node = static_cast<uint32_t>(size); node-- > 0;) {
      if (profile_.trie_.is_root(node)) continue;
      add_below(profile_.trie_.parent(node), profile_.period_[node], profile_.count_[node],
                first_[node]);
    }
  }
  void add_below(uint32_t node, uint64_t period, uint32_t count, uint32_t first) {
    profile_.period_[node] += period;
    profile_.count_[node] += count;
    if (first_[node] == kNone || earlier(first, first_[node])) first_[node] = first;
  }

  uint32_t row_of(uint32_t group, uint32_t place_key) {
    uint32_t id = row_ids_.intern({group, place_key});
    if (id == profile_.rows_.size())
      profile_.rows_.push_back({.group = group, .place_key = place_key});
    return id;
  }

  void make_own_rows() {
    measure_depths();
    std::vector<std::pair<uint32_t, uint32_t>> own;
    for (uint32_t i = 0; i < profile_.ends_.size(); ++i) {
      PathEnd& end = profile_.ends_[i];
      end.row = row_of(end.group, end.place_key);
      Row& row = profile_.rows_[end.row];
      row.self += end.period;
      row.self_count += end.count;
      note(row, end.first_sample, 0, depth_[end.node]);
      own.emplace_back(end.row, i);
    }
    own_ends_pairs_ = std::move(own);
    if (profile_.options_.by_mode) sum_modes();
  }

  void sum_modes() {
    modes_of_ends_.resize(profile_.ends_.size());
    profile_.mode_periods_.resize(profile_.rows_.size());
    for (size_t i = 0; i < profile_.ends_.size(); ++i) {
      ModePeriods& to = profile_.mode_periods_[profile_.ends_[i].row];
      to.system += modes_of_ends_[i].system;
      to.user += modes_of_ends_[i].user;
      to.guest_system += modes_of_ends_[i].guest_system;
      to.guest_user += modes_of_ends_[i].guest_user;
    }
  }

  void note(Row& row, uint32_t first, uint32_t step, uint32_t depth) {
    row.max_depth = std::max(row.max_depth, depth);
    if (row.first_sample == first) row.first_step = std::min(row.first_step, step);
    if (row.first_sample != kNone && !earlier(first, row.first_sample)) return;
    row.first_sample = first;
    row.first_step = step;
  }

  /// depth_: steps from the root; deepest_: largest depth_ below.
  void measure_depths() {
    size_t size = profile_.trie_.size();
    depth_.assign(size, 0);
    for (uint32_t node = 0; node < size; ++node)
      if (!profile_.trie_.is_root(node)) depth_[node] = depth_[profile_.trie_.parent(node)] + 1;
    deepest_ = depth_;
    for (auto node = static_cast<uint32_t>(size); node-- > 0;) {
      if (profile_.trie_.is_root(node)) continue;
      uint32_t parent = profile_.trie_.parent(node);
      deepest_[parent] = std::max(deepest_[parent], deepest_[node]);
    }
  }

  void make_children_rows() {
    profile_.trie_.index_children();
    std::vector<std::pair<uint32_t, uint32_t>> ends;
    for (uint32_t i = 0; i < profile_.ends_.size(); ++i)
      ends.emplace_back(profile_.ends_[i].node, i);
    ends_at_ = SpanTable(ends, profile_.trie_.size());
    on_path_.assign(keys_.place_key_count(), 0);
    for (uint32_t group = 0; group < roots_.size(); ++group)
      if (roots_[group] != kNone) visit_tree(roots_[group], group);
  }

  /// Walks one group's paths; every place that is not yet on the path above gets what is below.
  void visit_tree(uint32_t root, uint32_t group) {
    struct Visit {
      uint32_t node;
      bool leaving;
    };
    std::vector<Visit> stack{{root, false}};
    while (!stack.empty()) {
      auto [node, leaving] = stack.back();
      stack.pop_back();
      bool is_step = node != root;
      uint32_t place = is_step ? profile_.frames_->place_key_of(profile_.trie_.key(node)) : 0;
      if (leaving) {
        --on_path_[place];
        continue;
      }
      if (is_step) {
        if (on_path_[place]++ == 0) add_occurrence(node, row_of(group, place));
        stack.push_back({node, true});
      }
      for (uint32_t end : ends_at_[node]) add_missing_own(profile_.ends_[end]);
      for (uint32_t child : profile_.trie_.children_of(node)) stack.push_back({child, false});
    }
  }
  void add_occurrence(uint32_t node, uint32_t row_id) {
    Row& row = profile_.rows_[row_id];
    row.children += profile_.period_[node];
    note(row, first_[node], depth_[node], deepest_[node] - depth_[node] + 1);
    occurrence_pairs_.emplace_back(row_id, node);
  }
  void add_missing_own(const PathEnd& end) {
    if (on_path_[end.place_key] == 0) profile_.rows_[end.row].children += end.period;
  }

  void total_rows() {
    profile_.own_ends_ = SpanTable(own_ends_pairs_, profile_.rows_.size());
    profile_.occurrences_ = SpanTable(occurrence_pairs_, profile_.rows_.size());
    if (profile_.options_.by_mode) profile_.mode_periods_.resize(profile_.rows_.size());
    if (want_paths_ && !profile_.options_.children) profile_.trie_.index_children();
    for (Row& row : profile_.rows_) {
      row.hidden = is_hidden(row.first_sample);
      if (!profile_.options_.children) row.children = row.self;
      if (!row.hidden) profile_.totals_.shown_period += row.self;
    }
  }

  const ProfileInput& input_;
  KeySet& keys_;
  RowReader reader_;
  Profile profile_;
  bool want_paths_;
  bool from_root_;  // direction of the trie, see CallTreeBuilder

  std::vector<uint32_t> end_of_chain_;  // by ChainId: the last path end
  Interner end_ids_{2};
  Interner row_ids_{2};
  std::vector<uint32_t> path_;
  std::vector<LastPath> last_paths_;  // by group
  LastPath other_path_;
  std::vector<uint32_t> roots_;  // by group
  std::vector<ModePeriods> modes_of_ends_;
  std::vector<uint32_t> first_, depth_, deepest_;  // by node
  std::vector<uint32_t> on_path_;                  // by place key: how often on the current path
  SpanTable ends_at_;                              // by node
  std::vector<std::pair<uint32_t, uint32_t>> own_ends_pairs_, occurrence_pairs_;
};

Profile build_profile(const ProfileInput& input, KeySet& keys, std::span<const uint32_t> samples,
                      ProfileOptions options) {
  return ProfileBuilder(input, keys, std::move(options)).build(samples);
}

}  // namespace sonde
