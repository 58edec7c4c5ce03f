#include "profile/profile.h"

#include <deque>

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

/// Which use a sample belongs to whose path does not matter, by group and place key. A table per
/// group without any hashing, as long as there are few of them.
class UsesOfPlaces {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// kNone where it is not known (yet): the caller sets it.
  uint32_t& at(uint32_t group, uint32_t place_key) {
    if (group >= kMostGroups) return forgotten_ = kNone;
    if (tables_.size() <= group) tables_.resize(group + 1);
    std::vector<uint32_t>& table = tables_[group];
    if (table.size() <= place_key)
      table.resize(std::max<size_t>(place_key + 1, table.size() * 2), kNone);
    return table[place_key];
  }

 private:
  static constexpr size_t kMostGroups = 64;
  std::vector<std::vector<uint32_t>> tables_;
  uint32_t forgotten_ = kNone;
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
    if (profile_.options_.by_branch)
      for (uint32_t sample : samples) add_branches(sample);
    else if (profile_.options_.children || (want_paths_ && profile_.options_.min_path_share == 0))
      for (uint32_t sample : samples) add_sample(sample);
    else
      add_by_row(samples);
    make_trie();
    make_rows();
    total_rows();
    return std::move(profile_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kAhead = 8;  // samples: about as long as memory takes to answer

  /// Address space only, so that growing does not copy.
  void reserve(size_t samples) {
    uses_.reserve(samples);
    samples_of_uses_.reserve(samples);
  }

  // Samples into uses.

  void add_sample(uint32_t sample) {
    reader_.move_to(sample);
    FrameId leaf = own_frame(sample);
    add_sample(sample, leaf, keys_.group_of(reader_), profile_.frames_->own_place_key(leaf));
  }
  void add_sample(uint32_t sample, FrameId leaf, uint32_t group, uint32_t own) {
    ChainId chain = chain_of(sample);
    uint32_t use =
        chain.valid() ? use_of_path(group, own, chain) : use_without_path(group, own, leaf);
    uint64_t weight = weight_of(sample);
    add_to_totals(sample, weight);
    add_to(use, sample, weight);
  }
  [[nodiscard]] ChainId chain_of(uint32_t sample) const {
    return want_paths_ ? input_.samples.chain_of(sample) : ChainId();
  }
  [[nodiscard]] FrameId own_frame(uint32_t sample) const {
    FrameId leaf = input_.samples.leaf[sample];
    ChainId chain = chain_of(sample);
    return chain.valid() && !profile_.options_.is_root_frame.empty() ? root_place(chain, leaf)
                                                                     : leaf;
  }

  // A row that is lighter than any node of a tree must be needs no paths. Most samples are in such
  // rows (of a large recording four fifths), so samples are first added up by rows, and the chains
  // only of those looked at whose row turns out to be heavy.

  void add_by_row(std::span<const uint32_t> samples) {
    LargeVector<uint32_t> row_of_sample;
    if (want_paths_) row_of_sample.reserve(samples.size());
    UsesOfPlaces known;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i + kAhead < samples.size()) prefetch_place(samples[i + kAhead]);
      uint32_t sample = samples[i];
      reader_.move_to(sample);
      uint32_t group = keys_.group_of(reader_);
      uint32_t own = profile_.frames_->own_place_key(own_frame(sample));
      uint32_t& row = known.at(group, own);
      if (row == kNone) row = use_of_row(group, own);
      uint64_t weight = weight_of(sample);
      add_to_totals(sample, weight);
      add_to(row, sample, weight);
      if (want_paths_) row_of_sample.push_back(row);
    }
    if (want_paths_) take_heavy_rows_apart(samples, row_of_sample);
  }
  void prefetch_place(uint32_t sample) const {
    profile_.frames_->prefetch_own(input_.samples.leaf[sample]);
  }
  void take_heavy_rows_apart(std::span<const uint32_t> samples,
                             std::span<const uint32_t> row_of_sample) {
    uint64_t least = least_path_weight(profile_.totals_.period);
    std::vector<char> is_heavy(uses_.size());
    for (size_t row = 0; row < is_heavy.size(); ++row) {
      if (uses_[row].period < least) continue;
      is_heavy[row] = 1;
      clear(static_cast<uint32_t>(row));
    }
    for (size_t i = 0; i < samples.size(); ++i) {
      uint32_t row = row_of_sample[i];
      if (is_heavy[row] == 0) continue;
      uint32_t sample = samples[i];
      reader_.move_to(sample);
      ChainId chain = chain_of(sample);
      uint32_t use = chain.valid() ? use_of_path(uses_[row].group, uses_[row].own, chain) : row;
      add_to(use, sample, weight_of(sample));
    }
  }
  /// Empty uses make no difference: those of a heavy row whose samples all have paths stay so.
  void clear(uint32_t use) {
    uses_[use].period = 0;
    samples_of_uses_[use] = {};
    if (profile_.options_.by_mode) modes_of_uses_[use] = {};
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
      add_to_totals(sample, 1);
      add_to(use_without_path(group, own, leaf), sample, 1);
    }
  }

  uint32_t use_without_path(uint32_t group, uint32_t own, FrameId leaf) {
    uint32_t& known = use_of_leaf_[leaf.index()];
    if (known != kNone && is_of(uses_[known], group, own)) return known;
    return known = use_of_row(group, own);
  }
  /// The use of the samples of a row whose paths do not matter.
  uint32_t use_of_row(uint32_t group, uint32_t own) {
    uint32_t id = plain_ids_.intern({group, own});
    if (id == plain_uses_.size()) plain_uses_.push_back(add_use(group, own, {}));
    return plain_uses_[id];
  }

  /// The use of this chain that was met last mostly is the one that is wanted. If it is not, there
  /// is a second use of the same path, which the trie unites with the first.
  uint32_t use_of_path(uint32_t group, uint32_t own, ChainId chain) {
    uint32_t& known = use_of_chain_[chain.index()];
    if (known == kNone) {
      std::span<const FrameId> path = kept_frames(chain);
      if (profile_.frames_->learn(path)) return known = add_use(group, own, path);
    }
    if (known == kNone || uses_[known].has_addresses) {
      std::span<const FrameId> path = with_addresses(chain);
      if (known == kNone || !std::ranges::equal(path, steps_of(uses_[known]))) {
        known = add_use(group, own, keep(path));
        uses_[known].has_addresses = true;
        return known;
      }
    }
    if (is_of(uses_[known], group, own)) return known;
    return known = add_use_like(uses_[known], group, own);
  }

  static bool is_of(const PathUse& use, uint32_t group, uint32_t own) {
    return use.group == group && use.own == own;
  }
  uint32_t add_use(uint32_t group, uint32_t own, std::span<const FrameId> steps) {
    CHECK(uses_.size() < kNone);
    auto length = static_cast<uint32_t>(steps.size());
    uses_.push_back({.steps = steps.data(), .length = length, .group = group, .own = own});
    samples_of_uses_.push_back({});
    return static_cast<uint32_t>(uses_.size() - 1);
  }
  uint32_t add_use_like(const PathUse& known, uint32_t group, uint32_t own) {
    bool has_addresses = known.has_addresses;
    uint32_t use = add_use(group, own, steps_of(known));
    uses_[use].has_addresses = has_addresses;
    return use;
  }
  static std::span<const FrameId> steps_of(const PathUse& use) { return {use.steps, use.length}; }

  /// The path of the sample at hand, which is read again; until the next call.
  std::span<const FrameId> with_addresses(ChainId chain) {
    address_path_.clear();
    std::span<const FrameId> frames = input_.chains[chain];
    std::span<const FrameId> kept = kept_frames(chain);
    auto first = static_cast<size_t>(kept.data() - frames.data());
    addresses_.clear();
    if (record_has_addresses(frames.first(first + kept.size())))
      input_.details.chain_addresses(reader_.details(), reader_.sample(), addresses_);
    size_t known = 0;
    for (size_t at = 0; at < first + kept.size(); ++at) {
      // Frames behind the recorded ones were unwound: their addresses are those of the object.
      uint64_t ip =
          known < addresses_.size() ? addresses_[known] : input_.frame(frames[at]).address;
      // An inlined function's frame stands before the one that was recorded.
      if (known < addresses_.size() && !InlinedSymbols::has(input_.frame(frames[at]).symbol))
        ++known;
      if (at >= first)
        address_path_.push_back(profile_.frames_->step_of(CodePlace{frames[at], ip}));
    }
    return address_path_;
  }
  /// Whether the record of the sample at hand says where frames of it were whose address matters.
  /// Of chains from copied stacks it has the kernel's alone, which nearly always have symbols, and
  /// such a record is not in any cache.
  [[nodiscard]] bool record_has_addresses(std::span<const FrameId> frames) const {
    const auto& was_copied = input_.samples.was_copied;
    if (was_copied.empty() || was_copied[reader_.sample()] == 0) return true;
    return std::ranges::any_of(frames, [&](FrameId id) {
      const Frame& frame = input_.frame(id);
      return frame.level != FrameLevel::kUser && profile_.frames_->needs_address(frame);
    });
  }
  /// A copy that stays where it is.
  std::span<const FrameId> keep(std::span<const FrameId> path) {
    if (path.empty()) return {};
    if (kept_paths_.empty() ||
        kept_paths_.back().capacity() - kept_paths_.back().size() < path.size())
      kept_paths_.emplace_back().reserve(std::max(kKeptBlock, path.size()));
    LargeVector<FrameId>& block = kept_paths_.back();
    block.insert(block.end(), path.begin(), path.end());
    return std::span(block).last(path.size());
  }

  void add_to(uint32_t id, uint32_t sample, uint64_t period) {
    uses_[id].period += period;
    UseSamples& known = samples_of_uses_[id];
    uint64_t time = input_.samples.time[sample];
    if (known.count == 0 || std::pair(time, sample) < std::pair(known.first_time, known.first)) {
      known.first_time = time;
      known.first = sample;
    }
    ++known.count;
    if (profile_.options_.by_mode) add_mode(id, input_.samples.cpu_mode[sample], period);
  }
  void add_to_totals(uint32_t sample, uint64_t period) {
    ++profile_.totals_.samples;
    profile_.totals_.period += period;
    profile_.totals_.period_squares += static_cast<double>(period) * static_cast<double>(period);
    if (is_hidden(sample)) return;
    ++profile_.totals_.shown_samples;
    profile_.totals_.shown_sample_period += period;
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
                             .from_root = profile_.options_.caller_order,
                             .min_weight = least_path_weight(profile_.totals_.period)};
    std::span<const uint32_t> key_of_step = profile_.frames_->keys_of_steps();
    LargeVector<OrderedPath> paths = order_paths(uses_, key_of_step, options);
    size_t steps = 0;
    for (const OrderedPath& path : paths) steps += path.kept + 1;
    reserve_nodes(steps);
    profile_.ends_.reserve(paths.size());
    auto close = [this](uint32_t node, size_t depth) { close_node(node, depth); };
    std::vector<uint32_t> keys;
    uint64_t head = 0;
    uint32_t node = kNone;
    for (size_t at = 0; at < paths.size(); ++at) {
      prefetch_uses(uses_, paths, at);
      const OrderedPath& path = paths[at];
      const PathUse& use = uses_[path.use];
      if (path.is_alike == 0) node = kNone;
      if (samples_of_uses_[path.use].count == 0) continue;
      if (node != kNone) {
        end_at(node, path, use);
        continue;
      }
      if (roots_.empty() || head_of(use, options) != head)
        roots_.push_back(profile_.trie_.add_root(use.group, close));
      head = head_of(use, options);
      keys.clear();
      for (uint32_t i = 0; i < path.kept; ++i)
        keys.push_back(key_at(use, i, key_of_step, options.from_root));
      node = profile_.trie_.append(keys, close);
      end_at(node, path, use);
    }
    profile_.trie_.finish(close);
    resize_nodes(profile_.trie_.size());
  }
  /// Address space only: what belongs to a node is written when the node is closed.
  void reserve_nodes(size_t most) {
    profile_.trie_.reserve(most);
    resize_nodes(most);
  }
  void resize_nodes(size_t size) {
    profile_.period_.resize(size);
    profile_.count_.resize(size);
    first_.resize(size);
    height_.resize(size);
  }

  [[nodiscard]] uint64_t least_path_weight(uint64_t total) const {
    if (profile_.options_.children) return 0;
    return static_cast<uint64_t>(static_cast<double>(total) * profile_.options_.min_path_share);
  }

  void end_at(uint32_t node, const OrderedPath& path, const PathUse& use) {
    const UseSamples& samples = samples_of_uses_[path.use];
    bool known =
        !profile_.ends_.empty() && profile_.ends_.back().node == node && last_own_ == use.own;
    if (!known) {
      last_own_ = use.own;
      own_places_.push_back(use.own);
      profile_.ends_.push_back({.node = node,
                                .depth = path.kept,
                                .row = kNone,
                                .count = 0,
                                .first_sample = samples.first,
                                .period = 0});
      if (profile_.options_.by_mode) modes_of_ends_.emplace_back();
    }
    PathEnd& end = profile_.ends_.back();
    end.count += samples.count;
    end.period += use.period;
    if (earlier(samples.first, end.first_sample)) end.first_sample = samples.first;
    if (profile_.options_.by_mode) add(modes_of_ends_.back(), modes_of_uses_[path.use]);
    add_below(path.kept, {.period = use.period,
                          .first_time = samples.first_time,
                          .count = samples.count,
                          .first = samples.first});
  }

  /// What is at and below a node of the path that was appended last. The sums of the nodes on that
  /// path stay here until it is left: a pass over all nodes would read them from memory again.
  struct Below {
    uint64_t period = 0;
    uint64_t first_time = 0;
    uint32_t count = 0;
    uint32_t first = kNone;  // sample
    uint32_t height = 0;     // steps
  };
  void add_below(size_t depth, const Below& more) {
    if (sums_.size() <= depth) sums_.resize(depth + 1);
    Below& sum = sums_[depth];
    sum.period += more.period;
    sum.count += more.count;
    sum.height = std::max(sum.height, more.height);
    if (sum.first != kNone &&
        std::pair(sum.first_time, sum.first) < std::pair(more.first_time, more.first))
      return;
    sum.first = more.first;
    sum.first_time = more.first_time;
  }
  void close_node(uint32_t node, size_t depth) {
    Below sum = sums_[depth];
    sums_[depth] = Below();
    profile_.period_[node] = sum.period;
    profile_.count_[node] = sum.count;
    first_[node] = sum.first;
    height_[node] = sum.height;
    ++sum.height;
    if (depth > 0) add_below(depth - 1, sum);
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

  /// The samples of a use of a path.
  struct UseSamples {
    uint64_t first_time = 0;  // of the earliest
    uint32_t first = kNone;   // the earliest
    uint32_t count = 0;
  };
  LargeVector<PathUse> uses_;
  LargeVector<UseSamples> samples_of_uses_;
  std::vector<FrameId> address_path_;
  std::vector<uint64_t> addresses_;
  static constexpr size_t kKeptBlock = size_t{1} << 20;
  std::deque<LargeVector<FrameId>> kept_paths_;  // of uses with addresses
  std::vector<uint32_t> use_of_chain_;           // by ChainId: the last one
  std::vector<uint32_t> use_of_leaf_;            // by FrameId, of samples without a path
  Interner plain_ids_{2};
  std::vector<uint32_t> plain_uses_;
  std::vector<ModePeriods> modes_of_uses_, modes_of_ends_;

  std::vector<uint32_t> roots_;       // in the order of their nodes
  std::vector<uint32_t> own_places_;  // by path end
  uint32_t last_own_ = kNone;
  std::vector<Below> sums_;          // by depth
  Column<uint32_t> first_, height_;  // by node: earliest sample and steps below
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
