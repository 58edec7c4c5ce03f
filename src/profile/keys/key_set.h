// KeySet: the sort keys of one report, in order, and the tuples of values of its rows.
//
// Keys of the sample and keys of the place in code are kept apart: a row is (group, place), where a
// *group* is a distinct tuple of the former and a *place key* one of the latter. So the row of a
// sample's caller is found without looking at the sample again.
#pragma once

#include <memory>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "profile/interner.h"
#include "profile/keys/sort_key.h"

namespace sonde {

class KeySet {
 public:
  explicit KeySet(const ProfileInput& input) : input_(input) {}

  void add(std::unique_ptr<SortKey> key);
  /// No key may be added after this.
  void seal();

  [[nodiscard]] size_t size() const { return keys_.size(); }
  [[nodiscard]] const SortKey& key(size_t i) const { return *keys_[i].key; }
  [[nodiscard]] bool has_place_keys() const { return place_count_ > 0; }

  uint32_t group_of(RowReader& row);
  uint32_t place_key_of(const CodePlace& place);
  /// Whether all places with the same symbol have the same key.
  [[nodiscard]] bool places_by_symbol() const { return places_by_symbol_; }
  /// About this many places will be asked for at most: reserves address space for them.
  void expect_places(size_t count);
  [[nodiscard]] size_t group_count() const { return groups_.size(); }
  [[nodiscard]] size_t place_key_count() const { return places_.size(); }

  /// The value of key `i` in a row.
  [[nodiscard]] uint64_t value(size_t i, uint32_t group, uint32_t place_key) const {
    const Slot& slot = keys_[i];
    return slot.of_place ? places_.at(place_key)[slot.index] : groups_.at(group)[slot.index];
  }
  void prefetch(uint32_t place_key) const {
    if (place_count_ > 0) __builtin_prefetch(places_.at(place_key).data());
  }
  [[nodiscard]] const ProfileInput& input() const { return input_; }

 private:
  uint32_t intern(const CodePlace& place);
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Slot {
    std::unique_ptr<SortKey> key;
    bool of_place;
    uint32_t index;  // in its tuple
  };
  const ProfileInput& input_;
  std::vector<Slot> keys_;
  uint32_t place_count_ = 0;
  bool places_by_symbol_ = true;  // all keys of places are keys of symbols
  uint32_t sample_count_ = 0;
  Interner groups_{0};
  Interner places_{0};
  tsl::robin_map<uint32_t, uint32_t, NumberHash> place_of_symbol_;  // if `places_by_symbol_`
  // The key that numbers places tells nearly all of them apart: the first place key with each of
  // its values is found without hashing. kNone: there is no such key, or no place with that value.
  uint32_t numbering_ = kNone;  // index in the tuples of places
  LargeVector<uint32_t> first_with_number_;
  std::vector<uint64_t> tuple_;
  uint32_t last_group_ = kNone;
};

}  // namespace sonde
