#include "profile/profile_rows.h"

namespace sonde {

SpanTable::SpanTable(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t owners)
    : starts_(owners + 1, 0), numbers_(pairs.size()) {
  for (const auto& [owner, number] : pairs) ++starts_[owner + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::vector<uint32_t> fill(starts_.begin(), starts_.end() - 1);
  for (const auto& [owner, number] : pairs) numbers_[fill[owner]++] = number;
}

namespace {

/// Rows of the current group, by place key.
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

class RowBuilder {
 public:
  RowBuilder(PathTree& tree, const PathFrames& frames, size_t places, const ProfileOptions& options,
             const SampleColumns& samples)
      : tree_(tree), frames_(frames), places_(places), options_(options), samples_(samples) {}
  ProfileRows build() &&;

 private:
  uint32_t row_of(uint32_t root, uint32_t place_key);
  void add_own(uint32_t root, size_t end_id);
  void sum_modes();
  void note(Row& row, uint32_t first, uint32_t step, uint32_t depth);
  void visit_tree(uint32_t root, size_t end);
  void enter_step(uint32_t root, uint32_t node);
  void leave_step();
  [[nodiscard]] uint32_t place_of(uint32_t node) const;
  void add_missing_own(const PathEnd& end, uint32_t own);
  void total_rows();

  PathTree& tree_;
  const PathFrames& frames_;
  size_t places_;
  const ProfileOptions& options_;
  const SampleColumns& samples_;
  ProfileRows made_;
  RowsOfGroup rows_here_;
  std::vector<uint32_t> on_path_;  // by place key: number of occurrences on the current path
  std::vector<uint32_t> path_;     // nodes of the current path
  std::vector<std::pair<uint32_t, uint32_t>> own_pairs_, occurrence_pairs_;
};

ProfileRows RowBuilder::build() && {
  size_t end = 0;
  for (uint32_t root : tree_.roots) {
    rows_here_.begin();
    size_t first_end = end;
    for (; end < tree_.ends.size() && tree_.ends[end].node < tree_.trie.end_of(root); ++end)
      add_own(root, end);
    if (options_.children) visit_tree(root, first_end);
  }
  if (options_.by_mode) sum_modes();
  total_rows();
  return std::move(made_);
}

uint32_t RowBuilder::row_of(uint32_t root, uint32_t place_key) {
  uint32_t& row = rows_here_.at(place_key);
  if (row == RowsOfGroup::kNone) {
    row = static_cast<uint32_t>(made_.rows.size());
    made_.rows.push_back({.group = tree_.trie.key(root), .place_key = place_key});
    made_.root_of_row.push_back(CallTrie::kNone);
  }
  return row;
}

void RowBuilder::add_own(uint32_t root, size_t end_id) {
  PathEnd& end = tree_.ends[end_id];
  end.row = row_of(root, tree_.own[end_id]);
  made_.root_of_row[end.row] = root;
  Row& row = made_.rows[end.row];
  row.self += end.period;
  row.self_count += end.count;
  note(row, end.first_sample, 0, end.depth);
  own_pairs_.emplace_back(end.row, static_cast<uint32_t>(end_id));
}

void RowBuilder::sum_modes() {
  made_.modes.resize(made_.rows.size());
  for (size_t i = 0; i < tree_.ends.size(); ++i) made_.modes[tree_.ends[i].row] += tree_.modes[i];
}

/// `step`: index in the path of sample `first`.
void RowBuilder::note(Row& row, uint32_t first, uint32_t step, uint32_t depth) {
  row.max_depth = std::max(row.max_depth, depth);
  if (row.first_sample == first) row.first_step = std::min(row.first_step, step);
  if (row.first_sample != UseSamples::kNone && !is_earlier(samples_, first, row.first_sample))
    return;
  row.first_sample = first;
  row.first_step = step;
}

/// Walks one group's paths; every place that is not already further up the path gets the subtree's
/// weight.
void RowBuilder::visit_tree(uint32_t root, size_t end) {
  const CallTrie& trie = tree_.trie;
  uint32_t last = trie.end_of(root);
  on_path_.resize(places_);
  path_.clear();
  for (uint32_t node = root;; ++node) {
    while (!path_.empty() && (node >= last || trie.end_of(path_.back()) <= node)) leave_step();
    if (node >= last) break;
    if (node != root) enter_step(root, node);
    for (; end < tree_.ends.size() && tree_.ends[end].node == node; ++end)
      add_missing_own(tree_.ends[end], tree_.own[end]);
  }
}

void RowBuilder::enter_step(uint32_t root, uint32_t node) {
  path_.push_back(node);
  uint32_t place = place_of(node);
  if (on_path_[place]++ != 0) return;
  uint32_t row_id = row_of(root, place);
  Row& row = made_.rows[row_id];
  row.children += tree_.period[node];
  note(row, tree_.first[node], static_cast<uint32_t>(path_.size()), tree_.height[node] + 1);
  occurrence_pairs_.emplace_back(row_id, node);
}

void RowBuilder::leave_step() {
  --on_path_[place_of(path_.back())];
  path_.pop_back();
}

uint32_t RowBuilder::place_of(uint32_t node) const {
  return frames_.place_key_of(tree_.trie.key(node));
}

void RowBuilder::add_missing_own(const PathEnd& end, uint32_t own) {
  if (on_path_[own] == 0) made_.rows[end.row].children += end.period;
}

void RowBuilder::total_rows() {
  made_.own_ends = SpanTable(own_pairs_, made_.rows.size());
  made_.occurrences = SpanTable(occurrence_pairs_, made_.rows.size());
  if (options_.by_mode) made_.modes.resize(made_.rows.size());
  for (Row& row : made_.rows) {
    row.hidden = options_.hides(row.first_sample);
    if (!options_.children) row.children = row.self;
  }
}

}  // namespace

ProfileRows build_rows(PathTree& tree, const PathFrames& frames, size_t places,
                       const ProfileOptions& options, const SampleColumns& samples) {
  return RowBuilder(tree, frames, places, options, samples).build();
}

}  // namespace sonde
