#include "profile/table_rows.h"

#include <set>

#include "base/check.h"
#include "base/parallel.h"
#include "base/sorting/radix_order.h"

namespace sonde {

TableRows::TableRows(std::vector<const Profile*> profiles, const KeySet& keys,
                     const std::vector<const Profile*>& latencies)
    : profiles_(std::move(profiles)), keys_(keys) {
  if (profiles_.size() == 1)
    take_rows(*profiles_.front());
  else
    merge_rows();
  if (!latencies.empty()) add_latencies(latencies);
}

void TableRows::merge_rows() {
  Interner ids(2);
  for (size_t member = 0; member < profiles_.size(); ++member) {
    const LargeVector<Row>& rows = profiles_[member]->rows();
    for (uint32_t i = 0; i < rows.size(); ++i) {
      uint32_t id = ids.intern({rows[i].group, rows[i].place_key});
      if (id == rows_.size()) {
        rows_.push_back(&rows[i]);
        found_.resize(found_.size() + profiles_.size(), kAbsent);
      }
      found_[id * profiles_.size() + member] = i;
    }
  }
}

/// The rows of a single profile, which are all distinct.
void TableRows::take_rows(const Profile& profile) {
  rows_.reserve(profile.rows().size());
  found_.reserve(profile.rows().size());
  for (uint32_t i = 0; i < profile.rows().size(); ++i) {
    rows_.push_back(&profile.rows()[i]);
    found_.push_back(i);
  }
}

/// A profile by latency has the same rows, in whatever order.
void TableRows::add_latencies(const std::vector<const Profile*>& latencies) {
  latencies_.resize(found_.size());
  Interner ids(2);
  for (const Row* row : rows_) ids.intern({row->group, row->place_key});
  for (size_t member = 0; member < latencies.size(); ++member)
    for (const Row& row : latencies[member]->rows()) {
      uint32_t id = ids.intern({row.group, row.place_key});
      CHECK(id < rows_.size());
      latencies_[id * members() + member] = {row.self, row.children};
    }
}

uint64_t TableRows::weight(uint32_t row, size_t member, Weight weight) const {
  uint32_t id = row_in(row, member);
  if (id == kAbsent) return 0;
  if (is_latency(weight)) {
    if (latencies_.empty()) return 0;
    const Latency& latency = latencies_[row * members() + member];
    return weight == Weight::kLatency ? latency.self : latency.children;
  }
  const Profile& profile = *profiles_[member];
  const Row& found = profile.rows()[id];
  switch (weight) {
    case Weight::kOverhead:
    case Weight::kPeriod:
    case Weight::kOverheadInterval:
    case Weight::kByOperation:
    case Weight::kByCache:
    case Weight::kByMemory:
    case Weight::kBySnoop:
    case Weight::kByTlb:
      return found.self;
    case Weight::kChildren:
    case Weight::kChildrenInterval:
      return found.children;
    case Weight::kSamples:
      return found.self_count;
    default:
      break;
  }
  if (profile.mode_periods().empty()) return 0;
  const ModePeriods& modes = profile.mode_periods()[id];
  switch (weight) {
    case Weight::kSystem:
      return modes.system;
    case Weight::kUser:
      return modes.user;
    case Weight::kGuestSystem:
      return modes.guest_system;
    default:
      return modes.guest_user;
  }
}

void TableRows::prefetch(std::span<const uint32_t> rows) const {
  for (uint32_t row : rows) {
    __builtin_prefetch(&rows_[row]);
    __builtin_prefetch(&found_[row * members()]);
  }
  for (uint32_t row : rows) {
    const auto* found = reinterpret_cast<const std::byte*>(rows_[row]);
    __builtin_prefetch(found);
    __builtin_prefetch(found + sizeof(Row) - 1);
  }
  for (uint32_t row : rows) keys_.prefetch(rows_[row]->place_key);
}

SourcePeriods TableRows::sources(uint32_t row) const {
  SourcePeriods sum;
  for (size_t member = 0; member < members(); ++member)
    if (uint32_t id = row_in(row, member); id != kAbsent)
      if (const auto& sources = profiles_[member]->source_periods(); !sources.empty())
        sum += sources[id];
  return sum;
}

/// Tables with more rows than this are sorted as well as a consistent order allows, without trees:
/// the difference is only visible in the order of rows of equal weight, and a tree of a million
/// rows takes seconds.
constexpr size_t kTreeRows = 50'000;
/// The same limit for runs of equal weight inside larger tables.
constexpr size_t kTreeRun = 5'000;

namespace {

bool is_of_children(Weight weight) {
  return weight == Weight::kChildren || weight == Weight::kLatencyChildren;
}

/// The order that one-by-one insertion into a red-black tree produces. perf keeps its rows in such
/// trees, so where a comparison is not a consistent order, only this gives its result.
template <typename Before>
void insert_into_tree(std::span<uint32_t> rows, const Before& before) {
  std::multiset<uint32_t, Before> tree(before);
  for (uint32_t row : rows) tree.insert(row);
  std::ranges::copy(tree, rows.begin());
}

/// The distinct ones among values, numbered in order of first occurrence. Most keys' values are
/// small numbers, which need no hashing.
class DistinctValues {
 public:
  explicit DistinctValues(std::span<const uint64_t> values) {
    constexpr size_t kSparse = 4;  // entries of the table per value
    uint64_t largest = 0;
    for (uint64_t value : values) largest = std::max(largest, value);
    if (largest / kSparse < values.size()) id_of_small_.resize(largest + 1, kNone);
    for (uint64_t value : values)
      if (id_of(value) == all_.size()) all_.push_back(value);
  }
  /// Of a value for the first time: the number of those before it.
  uint32_t id_of(uint64_t value) {
    if (id_of_small_.empty()) return ids_.intern({value});
    uint32_t& id = id_of_small_[value];
    if (id == kNone) id = static_cast<uint32_t>(all_.size());
    return id;
  }
  [[nodiscard]] std::span<const uint64_t> all() const { return all_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  LargeVector<uint32_t> id_of_small_;
  Interner ids_{1};
  std::vector<uint64_t> all_;
};

/// Dense ranks of each row's value of a key; rows that the key cannot distinguish share a rank.
std::vector<uint32_t> ranks_of(const std::vector<uint64_t>& values, const SortKey& key,
                               SortKey::Order order) {
  DistinctValues distinct(values);
  std::vector<uint32_t> rank_of_id = key.ranks(distinct.all(), order);
  std::vector<uint32_t> ranks;
  ranks.reserve(values.size());
  for (uint64_t value : values) ranks.push_back(rank_of_id[distinct.id_of(value)]);
  return ranks;
}

}  // namespace

/// The numbers by which rows are compared, in order, smaller ones first; stored row by row.
class TableRows::Criteria {
 public:
  Criteria(size_t rows, size_t terms) : terms_(terms), numbers_(rows * terms) {}
  void set(uint32_t row, size_t term, uint64_t number) { numbers_[row * terms_ + term] = number; }
  [[nodiscard]] uint64_t get(uint32_t row, size_t term) const {
    return numbers_[row * terms_ + term];
  }
  [[nodiscard]] int compare(uint32_t a, uint32_t b, size_t from = 0) const {
    for (size_t term = from; term < terms_; ++term)
      if (int by = three_way(get(a, term), get(b, term)); by != 0) return by;
    return 0;
  }
  /// Sorts by all terms; rows that they cannot distinguish stay in their order.
  void order(std::span<uint32_t> rows) const {
    OrderBuffers buffers;
    for (size_t term = terms_; term-- > 0;)
      order_by(rows, [this, term](uint32_t row) { return get(row, term); }, buffers);
  }

 private:
  size_t terms_;
  LargeVector<uint64_t> numbers_;
};

/// Terms of large tables are worked out by several threads.
template <typename Body>
void TableRows::for_each_term(size_t terms, const Body& body) const {
  constexpr size_t kMany = 10'000;  // rows; starting threads takes longer for fewer
  if (rows_.size() >= kMany) return parallel_for(terms, body);
  for (size_t i = 0; i < terms; ++i) body(i);
}

void TableRows::set_ranks(Criteria& to, size_t term, size_t key, SortKey::Order order) const {
  std::vector<uint32_t> rank = ranks_of(values(key), keys_.key(key), order);
  for (uint32_t row = 0; row < rank.size(); ++row) to.set(row, term, rank[row]);
}

std::vector<uint64_t> TableRows::values(size_t key) const {
  std::vector<uint64_t> found(rows_.size());
  for (uint32_t row = 0; row < found.size(); ++row) found[row] = value(row, key);
  return found;
}

// perf compares depths only between rows made by the same thread, so on its own this is not a
// consistent order.
int TableRows::compare_depths(uint32_t a, uint32_t b, DepthRule rule) const {
  if (rule == DepthRule::kIgnore) return 0;
  const SampleColumns& samples = keys_.input().samples;
  const Row& left = *rows_[a];
  const Row& right = *rows_[b];
  if (samples.tid[left.first_sample] != samples.tid[right.first_sample] ||
      samples.pid[left.first_sample] != samples.pid[right.first_sample])
    return 0;
  // Rows that the leader lacks have no call paths.
  auto depth = [&](uint32_t row) { return row_in(row, 0) == kAbsent ? 0 : rows_[row]->max_depth; };
  int deepest_first = three_way(depth(b), depth(a));
  return rule == DepthRule::kDeepestFirst ? deepest_first : -deepest_first;
}

void TableRows::collate() {
  Criteria ranks(rows_.size(), keys_.size());
  bool consistent = true;
  bool dso_seen = false;
  std::vector<bool> is_consistent;
  for (size_t key = 0; key < keys_.size(); ++key) {
    const SortKey& by = keys_.key(key);
    is_consistent.push_back(by.collates_consistently(dso_seen));
    consistent = consistent && is_consistent.back();
    dso_seen = dso_seen || by.name == "dso";
  }
  for_each_term(keys_.size(),
                [&](size_t key) { set_ranks(ranks, key, key, SortKey::Order::kCollating); });
  order_ = all_rows(rows_.size());
  if (consistent || order_.size() > kTreeRows) return ranks.order(order_);
  auto before = [&](uint32_t a, uint32_t b) {
    for (size_t key = 0; key < keys_.size(); ++key) {
      int by = is_consistent[key] ? three_way(ranks.get(a, key), ranks.get(b, key))
                                  : keys_.key(key).collate_in_tree(value(a, key), value(b, key));
      if (by != 0) return by < 0;
    }
    return false;
  };
  // Rows are inserted in the order in which they were created over time; the tree is then copied
  // into a second one, as in perf.
  const auto& times = keys_.input().samples.time;
  std::ranges::sort(order_, {}, [&](uint32_t row) {
    const Row& made = *rows_[row];
    return std::tuple(times[made.first_sample], made.first_sample, made.first_step, row);
  });
  insert_into_tree(order_, before);
  insert_into_tree(order_, before);
}

/// The order's terms as numbers. The overheads of a group are compared member by member, children
/// only for the member that is compared first. The leader is ignored if another member comes first.
TableRows::Criteria TableRows::criteria(const SortOptions& options) const {
  struct Column {
    OrderTerm term;
    size_t member;
  };
  std::vector<Column> columns;
  for (const OrderTerm& term : options.terms) {
    columns.push_back({term, options.first_member});
    if (term.is_key || is_of_children(term.weight)) continue;
    for (size_t member = 1; member < members(); ++member)
      if (member != options.first_member) columns.push_back({term, member});
  }
  Criteria made(rows_.size(), columns.size());
  for_each_term(columns.size(), [&](size_t i) {
    const auto& [term, member] = columns[i];
    if (term.is_key) return set_ranks(made, i, term.key, SortKey::Order::kShown);
    for (uint32_t row = 0; row < rows_.size(); ++row)
      made.set(row, i, ~weight(row, member, term.weight));
  });
  return made;
}

void TableRows::sort(const SortOptions& options) {
  collate();
  Criteria by = criteria(options);
  bool deepens = options.depth != DepthRule::kIgnore && !options.terms.empty() &&
                 !options.terms.front().is_key && is_of_children(options.terms.front().weight);
  auto before = [&](uint32_t a, uint32_t b) {
    if (uint64_t x = by.get(a, 0), y = by.get(b, 0); x != y) return x < y;
    if (int depth = compare_depths(a, b, options.depth); depth != 0) return depth < 0;
    return by.compare(a, b, 1) < 0;
  };
  if (deepens && order_.size() <= kTreeRows) return insert_into_tree(order_, before);
  if (!deepens) return by.order(order_);
  std::vector<uint32_t> position(order_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  by.order(order_);
  deepen_runs(by, position, before);
}

/// In a table too large for one tree, runs of rows with equal weight each get their own tree.
template <typename Before>
void TableRows::deepen_runs(const Criteria& by, const std::vector<uint32_t>& position,
                            const Before& before) {
  for (size_t begin = 0; begin < order_.size();) {
    size_t end = begin + 1;
    while (end < order_.size() && by.get(order_[end], 0) == by.get(order_[begin], 0)) ++end;
    std::span<uint32_t> run = std::span(order_).subspan(begin, end - begin);
    if (run.size() > 1 && run.size() <= kTreeRun) {
      std::ranges::sort(run, {}, [&](uint32_t row) { return position[row]; });
      insert_into_tree(run, before);
    }
    begin = end;
  }
}

}  // namespace sonde
