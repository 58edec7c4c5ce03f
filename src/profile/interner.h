// Interner: maps distinct tuples of 64-bit values to dense 32-bit ids, in order of first
// occurrence.
//
//   Interner groups(2);
//   uint32_t id = groups.intern({comm, cpu});   // 0, 1, 2 …
//   groups.at(id)[1]                            // cpu
//
// IdTable is the same for values that are kept elsewhere, by id.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "base/large_vector.h"

namespace sonde {

/// Ids by the hash of what they stand for.
class IdTable {
 public:
  /// The id whose value is the one looked for, according to `equal(id)`; if there is none, `next`,
  /// which from now on has that value.
  template <typename Equal>
  uint32_t find_or_add(uint32_t hash, uint32_t next, const Equal& equal) {
    size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.id == kEmpty) return add(hash, at, next);
      if (slot.hash == hash && equal(slot.id)) return slot.id;
    }
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  static constexpr size_t kInitialSlots = 64;

  /// With the hash in the slot, a new value costs one cache line, and growing is a linear pass.
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = kEmpty;
  };

  uint32_t add(uint32_t hash, size_t at, uint32_t id) {
    slots_[at] = {hash, id};
    if (++count_ * 3 > slots_.size() * 2) grow(slots_.size() * 2);
    return id;
  }
  void grow(size_t wanted) {
    LargeVector<Slot> slots(wanted);
    size_t mask = slots.size() - 1;
    for (const Slot& slot : slots_) {
      if (slot.id == kEmpty) continue;
      size_t at = slot.hash & mask;
      while (slots[at].id != kEmpty) at = (at + 1) & mask;
      slots[at] = slot;
    }
    slots_ = std::move(slots);
  }

  size_t count_ = 0;
  LargeVector<Slot> slots_ =
      LargeVector<Slot>(kInitialSlots);  // open addressing, at most two thirds full
};

class Interner {
 public:
  explicit Interner(size_t arity) : arity_(arity) {}

  uint32_t intern(std::span<const uint64_t> tuple) {
    uint32_t id = ids_.find_or_add(hash_of(tuple), count_,
                                   [&](uint32_t known) { return equal(known, tuple.data()); });
    return id == count_ ? append(tuple) : id;
  }
  uint32_t intern(std::initializer_list<uint64_t> tuple) {
    return intern(std::span(tuple.begin(), tuple.size()));
  }

  /// Adds a tuple that is known to be new, and that intern() will never be asked for: it is not
  /// looked up.
  uint32_t append(std::span<const uint64_t> tuple) {
    values_.insert(values_.end(), tuple.begin(), tuple.end());
    return count_++;
  }

  /// Reserves address space for that many tuples, so that growing does not copy; uses no memory
  /// yet.
  void expect(size_t count) { values_.reserve(count * arity_); }

  [[nodiscard]] std::span<const uint64_t> at(uint32_t id) const {
    return {values_.data() + size_t{id} * arity_, arity_};
  }
  [[nodiscard]] bool is(uint32_t id, std::span<const uint64_t> tuple) const {
    return equal(id, tuple.data());
  }
  [[nodiscard]] size_t size() const { return count_; }
  [[nodiscard]] size_t arity() const { return arity_; }

  [[nodiscard]] static uint32_t hash_of(std::span<const uint64_t> tuple) {
    if (tuple.size() == 1) return mix(tuple[0]);
    if (tuple.size() == 2) return mix(tuple[0] * 0x9e3779b97f4a7c15 + tuple[1]);
    return static_cast<uint32_t>(XXH3_64bits(tuple.data(), tuple.size_bytes()));
  }

 private:
  static uint32_t mix(uint64_t value) {
    return static_cast<uint32_t>((value * 0x9fb21c651e98df25) >> 32);
  }
  [[nodiscard]] bool equal(uint32_t id, const uint64_t* tuple) const {
    const uint64_t* have = values_.data() + size_t{id} * arity_;
    for (size_t i = 0; i < arity_; ++i)
      if (have[i] != tuple[i]) return false;
    return true;
  }

  size_t arity_;
  uint32_t count_ = 0;
  LargeVector<uint64_t> values_;
  IdTable ids_;
};

}  // namespace sonde
