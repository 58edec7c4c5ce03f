#include "profile/profile.h"

#include "abi/perf_event.h"
#include "base/check.h"
#include "profile/path_order.h"

namespace sonde {

SpanTable::SpanTable(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t owners)
    : starts_(owners + 1, 0), numbers_(pairs.size()) {
  for (const auto& [owner, number] : pairs) ++starts_[owner + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::vector<uint32_t> fill(starts_.begin(), starts_.end() - 1);
  for (const auto& [owner, number] : pairs) numbers_[fill[owner]++] = number;
}

namespace {

void add(ModePeriods& to, const ModePeriods& from) {
  to.system += from.system;
  to.user += from.user;
  to.guest_system += from.guest_system;
  to.guest_user += from.guest_user;
}

}  // namespace

/// Rows of the group at hand, by place key.
class RowsOfGroup {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  void begin() { ++stamp_; }
  uint32_t& at(uint32_t place_key) {
    if (slots_.size() <= place_key)
      slots_.resize(std::max<size_t>(place_key + 1, slots_.size() * 2));
    Slot& slot = slots_[place_key];
    if (slot.stamp != stamp_) slot = {stamp_, kNone};
    return slot.row;
  }

 private:
  struct Slot {
    uint32_t stamp = 0;
    uint32_t row = kNone;
  };
  std::vector<Slot> slots_;
  uint32_t stamp_ = 0;
};

/// Builds in three passes: samples into uses of paths, uses into the trie, the trie into rows.
class ProfileBuilder {
 public:
  ProfileBuilder(const ProfileInput& input, KeySet& keys, ProfileOptions options)
      : input_(input), keys_(keys), reader_(input) {
    profile_.options_ = std::move(options);
    profile_.frames_ = std::make_unique<PathFrames>(input, keys, profile_.options_.call_key);
    want_paths_ = profile_.options_.children || profile_.options_.call_graph;
    if (want_paths_) use_of_chain_.assign(input.chains.size(), kNone);
    use_of_leaf_.assign(input.frames.size(), kNone);
    reserve(input.samples.size());
  }

  Profile build(std::span<const uint32_t> samples) && {
    for (uint32_t sample : samples) {
      if (profile_.options_.by_branch)
        add_branches(sample);
      else
        add_sample(sample);
    }
    make_trie();
    sum_paths();
    make_rows();
    total_rows();
    return std::move(profile_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Address space only, so that growing does not copy. Chains with addresses may need more keys.
  void reserve(size_t samples) {
    uses_.reserve(samples);
    if (want_paths_) keys_of_paths_.reserve(input_.chains.frame_count());
  }

  // Samples into uses.

  void add_sample(uint32_t sample) {
    reader_.move_to(sample);
    FrameId leaf = input_.samples.leaf[sample];
    uint32_t group = keys_.group_of(reader_);
    ChainId chain = want_paths_ ? input_.samples.chain[sample] : ChainId();
    if (chain.valid() && !profile_.options_.is_root_frame.empty()) leaf = root_place(chain, leaf);
    uint32_t own = profile_.frames_->own_place_key(leaf);
    uint32_t use =
        chain.valid() ? use_of_path(group, own, chain) : use_without_path(group, own, leaf);
    add_to(use, sample, weight_of(sample));
  }

  [[nodiscard]] uint64_t weight_of(uint32_t sample) const {
    if (!profile_.options_.by_weight) return input_.samples.period[sample];
    return std::max<uint64_t>(input_.samples.weight[sample], 1);
  }

  void add_branches(uint32_t sample) {
    reader_.move_to(sample);
    size_t count = reader_.details().branch_count();
    FrameId leaf = input_.samples.leaf[sample];
    for (uint32_t i = 0; i < count; ++i) {
      reader_.move_to(sample, i);
      uint32_t group = keys_.group_of(reader_);
      uint32_t own = profile_.frames_->own_place_key(leaf);
      add_to(use_without_path(group, own, leaf), sample, 1);
    }
  }

  uint32_t use_without_path(uint32_t group, uint32_t own, FrameId leaf) {
    uint32_t& known = use_of_leaf_[leaf.index()];
    if (known != kNone && is_of(uses_[known], group, own)) return known;
    uint32_t id = plain_ids_.intern({group, own});
    if (id == plain_uses_.size()) plain_uses_.push_back(add_use(group, own, keys_of_paths_.size()));
    return known = plain_uses_[id];
  }

  /// The use of this chain that was met last mostly is the one that is wanted. If it is not, there
  /// is a second use of the same path, which the trie unites with the first.
  uint32_t use_of_path(uint32_t group, uint32_t own, ChainId chain) {
    uint32_t& known = use_of_chain_[chain.index()];
    if (!profile_.frames_->needs_addresses(chain)) {
      if (known == kNone) return known = add_use(group, own, append_path(chain));
      if (is_of(uses_[known], group, own)) return known;
      return known = add_use_like(uses_[known], group, own);
    }
    uint64_t first_key = append_addresses(chain);
    if (known == kNone || !ends_like(uses_[known], first_key))
      return known = add_use(group, own, first_key);
    keys_of_paths_.resize(first_key);
    if (is_of(uses_[known], group, own)) return known;
    return known = add_use_like(uses_[known], group, own);
  }

  static bool is_of(const PathUse& use, uint32_t group, uint32_t own) {
    return use.group == group && use.own == own;
  }
  /// A use of the path that begins at `first_key` and ends where the keys end.
  uint32_t add_use(uint32_t group, uint32_t own, uint64_t first_key) {
    CHECK(uses_.size() < kNone);
    auto length = static_cast<uint32_t>(keys_of_paths_.size() - first_key);
    uses_.push_back({.group = group, .own = own, .first_key = first_key, .length = length});
    return static_cast<uint32_t>(uses_.size() - 1);
  }
  uint32_t add_use_like(PathUse known, uint32_t group, uint32_t own) {
    uses_.push_back(
        {.group = group, .own = own, .first_key = known.first_key, .length = known.length});
    return static_cast<uint32_t>(uses_.size() - 1);
  }
  [[nodiscard]] bool ends_like(const PathUse& known, uint64_t first_key) const {
    return std::ranges::equal(std::span(keys_of_paths_).subspan(first_key), path_of(known));
  }
  [[nodiscard]] std::span<const uint32_t> path_of(const PathUse& use) const {
    return {keys_of_paths_.data() + use.first_key, use.length};
  }

  uint64_t append_path(ChainId chain) {
    uint64_t first_key = keys_of_paths_.size();
    for (FrameId frame : kept_frames(chain))
      keys_of_paths_.push_back(profile_.frames_->path_key(frame));
    return turn(first_key);
  }

  uint64_t append_addresses(ChainId chain) {
    uint64_t first_key = keys_of_paths_.size();
    std::span<const FrameId> frames = input_.chains[chain];
    std::span<const FrameId> kept = kept_frames(chain);
    auto first = static_cast<size_t>(kept.data() - frames.data());
    size_t at = 0;
    const WordView& words = reader_.details().callchain;
    for (size_t word = 0; word < words.size() && at < frames.size(); ++word) {
      uint64_t ip = words[word];
      if (abi::is_callchain_context(ip)) continue;
      if (at >= first && at < first + kept.size())
        keys_of_paths_.push_back(profile_.frames_->path_key(CodePlace{frames[at], ip}));
      ++at;
    }
    return turn(first_key);
  }

  /// Chains are recorded from the sampled place.
  uint64_t turn(uint64_t first_key) {
    if (profile_.options_.caller_order)
      std::ranges::reverse(std::span(keys_of_paths_).subspan(first_key));
    return first_key;
  }

  void add_to(uint32_t id, uint32_t sample, uint64_t period) {
    PathUse& use = uses_[id];
    use.period += period;
    ++use.count;
    if (use.first_sample == kNone || earlier(sample, use.first_sample)) use.first_sample = sample;
    ++profile_.totals_.samples;
    profile_.totals_.period += period;
    if (!is_hidden(sample)) ++profile_.totals_.shown_samples;
    if (profile_.options_.by_mode) add_mode(id, input_.samples.cpu_mode[sample], period);
  }

  void add_mode(uint32_t use, uint8_t mode, uint64_t period) {
    if (modes_of_uses_.size() <= use) modes_of_uses_.resize(use + 1);
    ModePeriods& periods = modes_of_uses_[use];
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

  // Uses into the trie.

  void make_trie() {
    PathOrderOptions options{.by_own = !profile_.options_.children,
                             .min_weight = min_path_weight()};
    LargeVector<OrderedPath> paths = order_paths(uses_, keys_of_paths_, options);
    profile_.trie_.reserve(keys_of_paths_.size() + paths.size());
    profile_.ends_.reserve(paths.size());
    uint64_t head = 0;
    for (const OrderedPath& path : paths) {
      const PathUse& use = uses_[path.use];
      if (roots_.empty() || head_of(use, options) != head)
        roots_.push_back(profile_.trie_.add_root(use.group));
      head = head_of(use, options);
      uint32_t node = profile_.trie_.append(path_of(use).first(path.kept));
      end_at(node, path, use);
    }
    profile_.trie_.finish();
  }

  uint64_t min_path_weight() const {
    if (profile_.options_.children) return 0;
    return static_cast<uint64_t>(static_cast<double>(profile_.totals_.period) *
                                 profile_.options_.min_path_share);
  }

  void end_at(uint32_t node, const OrderedPath& path, const PathUse& use) {
    bool known =
        !profile_.ends_.empty() && profile_.ends_.back().node == node && last_own_ == use.own;
    if (!known) {
      last_own_ = use.own;
      own_places_.push_back(use.own);
      profile_.ends_.push_back({.node = node,
                                .depth = path.kept,
                                .row = kNone,
                                .count = 0,
                                .first_sample = use.first_sample,
                                .period = 0});
      if (profile_.options_.by_mode) modes_of_ends_.emplace_back();
    }
    PathEnd& end = profile_.ends_.back();
    end.count += use.count;
    end.period += use.period;
    if (earlier(use.first_sample, end.first_sample)) end.first_sample = use.first_sample;
    if (profile_.options_.by_mode) add(modes_of_ends_.back(), modes_of_uses_[path.use]);
  }

  void sum_paths() {
    const CallTrie& trie = profile_.trie_;
    size_t size = trie.size();
    profile_.period_.resize(size);
    profile_.count_.resize(size);
    first_.assign(size, kNone);
    height_.assign(size, 0);
    size_t ends = profile_.ends_.size();
    for (auto node = static_cast<uint32_t>(size); node-- > 0;) {
      for (; ends > 0 && profile_.ends_[ends - 1].node == node; --ends) {
        const PathEnd& end = profile_.ends_[ends - 1];
        add_below(node, end.period, end.count, end.first_sample, 0);
      }
      if (!trie.is_root(node))
        add_below(trie.parent(node), profile_.period_[node], profile_.count_[node], first_[node],
                  height_[node] + 1);
    }
  }
  void add_below(uint32_t node, uint64_t period, uint32_t count, uint32_t first, uint32_t height) {
    profile_.period_[node] += period;
    profile_.count_[node] += count;
    height_[node] = std::max(height_[node], height);
    if (first_[node] == kNone || earlier(first, first_[node])) first_[node] = first;
  }

  // The trie into rows.

  void make_rows() {
    size_t end = 0;
    for (uint32_t root : roots_) {
      rows_here_.begin();
      size_t first_end = end;
      for (; end < profile_.ends_.size() && profile_.ends_[end].node < profile_.trie_.end_of(root);
           ++end)
        add_own(root, end);
      if (profile_.options_.children) visit_tree(root, first_end);
    }
    if (profile_.options_.by_mode) sum_modes();
  }

  uint32_t row_of(uint32_t root, uint32_t place_key) {
    uint32_t& row = rows_here_.at(place_key);
    if (row == kNone) {
      row = static_cast<uint32_t>(profile_.rows_.size());
      profile_.rows_.push_back({.group = profile_.trie_.key(root), .place_key = place_key});
      profile_.root_of_row_.push_back(CallTrie::kNone);
    }
    return row;
  }

  void add_own(uint32_t root, size_t end_id) {
    PathEnd& end = profile_.ends_[end_id];
    end.row = row_of(root, own_places_[end_id]);
    profile_.root_of_row_[end.row] = root;
    Row& row = profile_.rows_[end.row];
    row.self += end.period;
    row.self_count += end.count;
    note(row, end.first_sample, 0, end.depth);
    own_pairs_.emplace_back(end.row, static_cast<uint32_t>(end_id));
  }

  void sum_modes() {
    profile_.mode_periods_.resize(profile_.rows_.size());
    for (size_t i = 0; i < profile_.ends_.size(); ++i)
      add(profile_.mode_periods_[profile_.ends_[i].row], modes_of_ends_[i]);
  }

  /// `step`: of the path of sample `first`.
  void note(Row& row, uint32_t first, uint32_t step, uint32_t depth) {
    row.max_depth = std::max(row.max_depth, depth);
    if (row.first_sample == first) row.first_step = std::min(row.first_step, step);
    if (row.first_sample != kNone && !earlier(first, row.first_sample)) return;
    row.first_sample = first;
    row.first_step = step;
  }

  /// Walks one group's paths; every place that is not yet on the path above gets what is below.
  void visit_tree(uint32_t root, size_t end) {
    const CallTrie& trie = profile_.trie_;
    uint32_t last = trie.end_of(root);
    on_path_.resize(keys_.place_key_count());
    path_.clear();
    for (uint32_t node = root;; ++node) {
      while (!path_.empty() && (node >= last || trie.end_of(path_.back()) <= node)) leave_step();
      if (node >= last) break;
      if (node != root) enter_step(root, node);
      for (; end < profile_.ends_.size() && profile_.ends_[end].node == node; ++end)
        add_missing_own(profile_.ends_[end], own_places_[end]);
    }
  }
  void enter_step(uint32_t root, uint32_t node) {
    path_.push_back(node);
    uint32_t place = place_of(node);
    if (on_path_[place]++ != 0) return;
    uint32_t row_id = row_of(root, place);
    Row& row = profile_.rows_[row_id];
    row.children += profile_.period_[node];
    note(row, first_[node], static_cast<uint32_t>(path_.size()), height_[node] + 1);
    occurrence_pairs_.emplace_back(row_id, node);
  }
  void leave_step() {
    --on_path_[place_of(path_.back())];
    path_.pop_back();
  }
  [[nodiscard]] uint32_t place_of(uint32_t node) const {
    return profile_.frames_->place_key_of(profile_.trie_.key(node));
  }
  void add_missing_own(const PathEnd& end, uint32_t own) {
    if (on_path_[own] == 0) profile_.rows_[end.row].children += end.period;
  }

  void total_rows() {
    profile_.own_ends_ = SpanTable(own_pairs_, profile_.rows_.size());
    profile_.occurrences_ = SpanTable(occurrence_pairs_, profile_.rows_.size());
    if (profile_.options_.by_mode) profile_.mode_periods_.resize(profile_.rows_.size());
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

  LargeVector<PathUse> uses_;
  LargeVector<uint32_t> keys_of_paths_;
  std::vector<uint32_t> use_of_chain_;  // by ChainId: the last one
  std::vector<uint32_t> use_of_leaf_;   // by FrameId, of samples without a path
  Interner plain_ids_{2};
  std::vector<uint32_t> plain_uses_;
  std::vector<ModePeriods> modes_of_uses_, modes_of_ends_;

  std::vector<uint32_t> roots_;       // in the order of their nodes
  std::vector<uint32_t> own_places_;  // by path end
  uint32_t last_own_ = kNone;
  LargeVector<uint32_t> first_, height_;  // by node: earliest sample and steps below
  RowsOfGroup rows_here_;
  std::vector<uint32_t> on_path_;  // by place key: how often on the current path
  std::vector<uint32_t> path_;     // nodes of the current path
  std::vector<std::pair<uint32_t, uint32_t>> own_pairs_, occurrence_pairs_;
};

Profile build_profile(const ProfileInput& input, KeySet& keys, std::span<const uint32_t> samples,
                      ProfileOptions options) {
  return ProfileBuilder(input, keys, std::move(options)).build(samples);
}

}  // namespace sonde
