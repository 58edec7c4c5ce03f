// TableRows: the sorted rows of one table of a report: those of one event, or of a group of events
// side by side.
//
//   TableRows rows({&cycles, &misses}, keys);
//   rows.sort({OrderTerm::of(Weight::kOverhead), OrderTerm::of_key(0)});
//   for (uint32_t row : rows.order()) rows.weight(row, 1, Weight::kOverhead) …   // second event
//
// The profiles of a group share one KeySet, so rows are matched by (group, place key). Rows that
// the leader lacks are included with a leader weight of 0.
#pragma once

#include <vector>

#include "profile/profile.h"

namespace sonde {

/// The numbers of a row for each event.
enum class Weight : uint8_t {
  kOverhead,  // period
  kSystem,
  kUser,
  kGuestSystem,
  kGuestUser,
  kChildren,
  kSamples,
  kPeriod,
  kOverheadInterval,  // where the true share may be; compared like the share itself
  kChildrenInterval,
  kLatency,  // period divided by parallelism (ProfileOptions)
  kLatencyChildren,
  // The period once more, as a place for its parts by an abi::MemoryAspect, in their order.
  kByOperation,
  kByCache,
  kByMemory,
  kBySnoop,
  kByTlb,
};

[[nodiscard]] constexpr bool is_breakdown(Weight weight) {
  return weight >= Weight::kByOperation;
}
[[nodiscard]] constexpr abi::MemoryAspect aspect_of(Weight weight) {
  return static_cast<abi::MemoryAspect>(static_cast<uint8_t>(weight) -
                                        static_cast<uint8_t>(Weight::kByOperation));
}
[[nodiscard]] constexpr Weight weight_by(abi::MemoryAspect aspect) {
  return static_cast<Weight>(static_cast<uint8_t>(Weight::kByOperation) +
                             static_cast<uint8_t>(aspect));
}

[[nodiscard]] constexpr bool is_latency(Weight weight) {
  return weight == Weight::kLatency || weight == Weight::kLatencyChildren;
}

/// One criterion of the order of rows: a weight (heaviest first) or a sort key.
struct OrderTerm {
  bool is_key = false;
  Weight weight = Weight::kOverhead;
  size_t key = 0;
  static OrderTerm of(Weight weight) { return {false, weight, 0}; }
  static OrderTerm of_key(size_t key) { return {true, Weight::kOverhead, key}; }
  bool operator==(const OrderTerm&) const = default;
};

class TableRows {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  /// The first profile is the leader. `latencies`, if not empty, are profiles of the same samples
  /// by latency.
  TableRows(std::vector<const Profile*> profiles, const KeySet& keys,
            const std::vector<const Profile*>& latencies = {});

  /// For rows of equal weight, compares the depth of call paths: deeper first (or last).
  enum class DepthRule : uint8_t { kIgnore, kDeepestFirst, kDeepestLast };
  struct SortOptions {
    std::vector<OrderTerm> terms;
    DepthRule depth = DepthRule::kIgnore;
    size_t first_member = 0;  // the member whose weight is compared first
  };
  void sort(const SortOptions& options);

  [[nodiscard]] const std::vector<uint32_t>& order() const { return order_; }
  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] size_t members() const { return profiles_.size(); }
  [[nodiscard]] const Profile& profile(size_t member) const { return *profiles_[member]; }
  /// The row in a member's profile, or kAbsent.
  [[nodiscard]] uint32_t row_in(uint32_t row, size_t member) const {
    return found_[row * profiles_.size() + member];
  }
  [[nodiscard]] uint64_t weight(uint32_t row, size_t member, Weight weight) const;
  /// The parts of a row's period, all members together; zeros unless their profiles have them.
  [[nodiscard]] SourcePeriods sources(uint32_t row) const;
  /// The row in the first member that has it: for names and widths.
  [[nodiscard]] const Row& any(uint32_t row) const { return *rows_[row]; }
  [[nodiscard]] bool hidden(uint32_t row) const { return rows_[row]->hidden; }
  /// For rows that will be looked at soon.
  void prefetch(std::span<const uint32_t> rows) const;
  [[nodiscard]] uint64_t value(uint32_t row, size_t key) const {
    return keys_.value(key, rows_[row]->group, rows_[row]->place_key);
  }

 private:
  class Criteria;
  void take_rows(const Profile& profile);
  void merge_rows();
  void add_latencies(const std::vector<const Profile*>& latencies);
  /// Sorts `order_` into the order of rows of equal weight.
  void collate();
  [[nodiscard]] Criteria criteria(const SortOptions& options) const;
  template <typename Before>
  void deepen_runs(const Criteria& by, const std::vector<uint32_t>& position, const Before& before);
  [[nodiscard]] std::vector<uint64_t> values(size_t key) const;
  template <typename Body>
  void for_each_term(size_t terms, const Body& body) const;
  void set_ranks(Criteria& to, size_t term, size_t key, SortKey::Order order) const;
  [[nodiscard]] int compare_depths(uint32_t a, uint32_t b, DepthRule rule) const;

  std::vector<const Profile*> profiles_;
  const KeySet& keys_;
  std::vector<const Row*> rows_;
  std::vector<uint32_t> found_;  // row × member
  /// The latencies of a row, its own and with children.
  struct Latency {
    uint64_t self = 0, children = 0;
  };
  std::vector<Latency> latencies_;  // row × member; empty unless wanted
  std::vector<uint32_t> order_;
};

}  // namespace sonde
