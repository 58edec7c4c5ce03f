#include "profile/profile_rows.h"

namespace sonde {

SpanTable::SpanTable(std::span<const uint32_t> owner_of, size_t owners) : starts_(owners + 1, 0) {
  for (uint32_t owner : owner_of)
    if (owner != kNone) ++starts_[owner + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  numbers_.resize(starts_.back());
  std::vector<uint32_t> fill(starts_.begin(), starts_.end() - 1);
  for (uint32_t number = 0; number < owner_of.size(); ++number)
    if (uint32_t owner = owner_of[number]; owner != kNone) numbers_[fill[owner]++] = number;
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
  template <typename Periods>
  void sum_by_row(const std::vector<Periods>& of_ends, std::vector<Periods>& of_rows) const;
  void note(Row& row, uint32_t first, uint32_t step, uint32_t depth);
  void visit_tree(uint32_t root, size_t end);
  void enter_run(uint32_t root, uint32_t run);
  void leave_steps(size_t left);
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
  std::vector<uint32_t> path_;     // place keys of the current path
  struct OpenRun {
    uint32_t end;    // one past the last descendant
    size_t outside;  // steps of the path before it
  };
  std::vector<OpenRun> open_;                // of the current path
  LargeVector<uint32_t> row_of_occurrence_;  // by node
};

ProfileRows RowBuilder::build() && {
  // Takes only address space; growing would copy all rows several times.
  size_t nodes = options_.children ? tree_.trie.size() : 0;
  made_.rows.reserve(std::min(tree_.ends.size() + nodes, places_ * tree_.roots.size()));
  size_t end = 0;
  if (options_.children && options_.call_graph)
    row_of_occurrence_.resize(tree_.trie.size(), SpanTable::kNone);
  for (uint32_t root : tree_.roots) {
    rows_here_.begin();
    size_t first_end = end;
    for (; end < tree_.ends.size() && tree_.ends[end].node < tree_.trie.end_of(root); ++end)
      add_own(root, end);
    if (options_.children) visit_tree(root, first_end);
  }
  if (options_.by_mode) sum_by_row(tree_.modes, made_.modes);
  if (options_.by_source) sum_by_row(tree_.sources, made_.sources);
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
}

template <typename Periods>
void RowBuilder::sum_by_row(const std::vector<Periods>& of_ends,
                            std::vector<Periods>& of_rows) const {
  of_rows.resize(made_.rows.size());
  for (size_t i = 0; i < tree_.ends.size(); ++i) of_rows[tree_.ends[i].row] += of_ends[i];
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
  uint32_t run = trie.run_of(root);
  for (uint32_t node = root; node < last; node = trie.nodes_end(run++)) {
    while (!open_.empty() && open_.back().end <= node) {
      leave_steps(open_.back().outside);
      open_.pop_back();
    }
    if (node != root) enter_run(root, run);
    uint32_t last_of_run = trie.nodes_end(run) - 1;
    for (; end < tree_.ends.size() && tree_.ends[end].node == last_of_run; ++end)
      add_missing_own(tree_.ends[end], tree_.own[end]);
  }
  leave_steps(0);
  open_.clear();
}

void RowBuilder::enter_run(uint32_t root, uint32_t run) {
  const CallTrie& trie = tree_.trie;
  const PathSums& sums = tree_.sums[run];
  open_.push_back({trie.runs()[run].end, path_.size()});
  uint32_t end = trie.nodes_end(run);
  for (uint32_t node = trie.runs()[run].first; node < end; ++node) {
    uint32_t place = frames_.place_key_of(trie.key(node));
    path_.push_back(place);
    if (on_path_[place]++ != 0) continue;
    uint32_t row_id = row_of(root, place);
    Row& row = made_.rows[row_id];
    row.children += sums.period;
    note(row, sums.first, static_cast<uint32_t>(path_.size()), sums.height + (end - node));
    if (!row_of_occurrence_.empty()) row_of_occurrence_[node] = row_id;
  }
}

void RowBuilder::leave_steps(size_t left) {
  for (; path_.size() > left; path_.pop_back()) --on_path_[path_.back()];
}

void RowBuilder::add_missing_own(const PathEnd& end, uint32_t own) {
  if (on_path_[own] == 0) made_.rows[end.row].children += end.period;
}

void RowBuilder::total_rows() {
  std::vector<uint32_t> row_of_end;
  row_of_end.reserve(tree_.ends.size());
  for (const PathEnd& end : tree_.ends) row_of_end.push_back(end.row);
  made_.own_ends = SpanTable(row_of_end, made_.rows.size());
  made_.occurrences = SpanTable(row_of_occurrence_, made_.rows.size());
  if (options_.by_mode) made_.modes.resize(made_.rows.size());
  for (Row& row : made_.rows) {
    row.hidden = options_.hides(row.first_sample) ||
                 (options_.hides_row && options_.hides_row(row.group, row.place_key));
    if (!options_.children) row.children = row.self;
  }
}

}  // namespace

ProfileRows build_rows(PathTree& tree, const PathFrames& frames, size_t places,
                       const ProfileOptions& options, const SampleColumns& samples) {
  return RowBuilder(tree, frames, places, options, samples).build();
}

}  // namespace sonde
