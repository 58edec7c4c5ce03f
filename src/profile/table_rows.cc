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
  int deepest_first = three_way(right.max_depth, left.max_depth);
  return rule == DepthRule::kDeepestFirst ? deepest_first : -deepest_first;
}

struct TableRows::Ranks {
  std::vector<ValueRanks> collate, order;  // by key
  Ranks(const TableRows& rows, const KeySet& keys) {
    std::vector<uint64_t> values(rows.size());
    for (size_t key = 0; key < keys.size(); ++key) {
      for (uint32_t row = 0; row < rows.size(); ++row) values[row] = rows.value(row, key);
      const SortKey& by = keys.key(key);
      collate.emplace_back(values, [&](uint64_t a, uint64_t b) { return by.collate(a, b); });
      order.emplace_back(values, [&](uint64_t a, uint64_t b) { return by.order(a, b); });
    }
  }
};

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
  auto collates_before = [&](uint32_t a, uint32_t b) {
    for (const ValueRanks& key : ranks.collate)
      if (key[a] != key[b]) return key[a] < key[b];
    return a < b;
  };
  order_.resize(rows_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::ranges::sort(order_, collates_before);

  // The depth rule makes the comparison intransitive, so the outcome depends on how it is used.
  // perf inserts rows in collating order into a red-black tree, which is what multiset is too.
  auto before = [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; };
  if (options.depth == DepthRule::kIgnore) {
    std::ranges::stable_sort(order_, before);
    return;
  }
  std::multiset<uint32_t, decltype(before)> tree(before);
  for (uint32_t row : order_) tree.insert(row);
  order_.assign(tree.begin(), tree.end());
}

}  // namespace sonde
