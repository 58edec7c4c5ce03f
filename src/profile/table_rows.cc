#include "profile/table_rows.h"

#include <set>

namespace sonde {

TableRows::TableRows(std::vector<const Profile*> profiles, const KeySet& keys)
    : profiles_(std::move(profiles)), keys_(keys) {
  Interner ids(2);
  for (size_t member = 0; member < profiles_.size(); ++member) {
    const std::vector<Row>& rows = profiles_[member]->rows();
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

uint64_t TableRows::weight(uint32_t row, size_t member, Weight weight) const {
  uint32_t id = row_in(row, member);
  if (id == kAbsent) return 0;
  const Profile& profile = *profiles_[member];
  const Row& found = profile.rows()[id];
  switch (weight) {
    case Weight::kOverhead:
    case Weight::kPeriod:
      return found.self;
    case Weight::kChildren:
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

int TableRows::compare_weights(uint32_t a, uint32_t b, Weight which,
                               const SortOptions& options) const {
  size_t first = options.first_member;
  if (int by_first = three_way(weight(b, first, which), weight(a, first, which)); by_first != 0)
    return by_first;
  if (which == Weight::kChildren) return 0;  // as in perf, only the first counts
  for (size_t member = 0; member < profiles_.size(); ++member)
    if (int by = three_way(weight(b, member, which), weight(a, member, which)); by != 0) return by;
  return 0;
}

// perf compares depths only between rows that the same thread made, so this is no order by itself.
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

struct TableRows::Ranks {
  std::vector<ValueRanks> collate, order;  // by key
  std::vector<bool> is_consistent;
  bool all_consistent = true;

  Ranks(const TableRows& rows, const KeySet& keys) {
    std::vector<uint64_t> values(rows.size());
    bool dso_seen = false;
    for (size_t key = 0; key < keys.size(); ++key) {
      for (uint32_t row = 0; row < rows.size(); ++row) values[row] = rows.value(row, key);
      const SortKey& by = keys.key(key);
      bool consistent = by.collates_consistently(dso_seen);
      dso_seen = dso_seen || by.name == "dso";
      all_consistent = all_consistent && consistent;
      is_consistent.push_back(consistent);
      collate.emplace_back(values, [&](uint64_t a, uint64_t b) { return by.collate(a, b); });
      order.emplace_back(values, [&](uint64_t a, uint64_t b) { return by.order(a, b); });
    }
  }
};

/// What insertion one by one into a red-black tree makes of the rows. perf keeps its rows in such
/// trees, so where a comparison is no order this, and nothing else, gives its result.
template <typename Before>
static void insert_into_tree(std::vector<uint32_t>& rows, const Before& before) {
  std::multiset<uint32_t, Before> tree(before);
  for (uint32_t row : rows) tree.insert(row);
  rows.assign(tree.begin(), tree.end());
}

void TableRows::collate(const Ranks& ranks) {
  auto before = [&](uint32_t a, uint32_t b) {
    for (size_t key = 0; key < ranks.collate.size(); ++key) {
      int by = ranks.is_consistent[key]
                   ? three_way(ranks.collate[key][a], ranks.collate[key][b])
                   : keys_.key(key).collate_in_tree(value(a, key), value(b, key));
      if (by != 0) return by < 0;
    }
    return false;
  };
  order_.resize(rows_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  if (ranks.all_consistent) {
    std::ranges::stable_sort(order_, before);
    return;
  }
  // Rows come in the order in which time makes them; then the tree is copied into a second one.
  const auto& times = keys_.input().samples.time;
  std::ranges::stable_sort(order_, {}, [&](uint32_t row) {
    const Row& made = *rows_[row];
    return std::tuple(times[made.first_sample], made.first_sample, made.first_step);
  });
  insert_into_tree(order_, before);
  insert_into_tree(order_, before);
}

void TableRows::sort(const SortOptions& options) {
  Ranks ranks(*this, keys_);
  auto compare = [&](uint32_t a, uint32_t b) {
    for (const OrderTerm& term : options.terms) {
      int by = 0;
      if (term.is_key) {
        by = three_way(ranks.order[term.key][a], ranks.order[term.key][b]);
      } else {
        by = compare_weights(a, b, term.weight, options);
        if (by == 0 && term.weight == Weight::kChildren) by = compare_depths(a, b, options.depth);
      }
      if (by != 0) return by;
    }
    return 0;
  };
  collate(ranks);
  auto before = [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; };
  if (options.depth == DepthRule::kIgnore)
    std::ranges::stable_sort(order_, before);
  else
    insert_into_tree(order_, before);  // the depth rule is no order either
}

}  // namespace sonde
