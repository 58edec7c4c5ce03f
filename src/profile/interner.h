// Interner: distinct tuples of 64-bit values get dense 32-bit ids, in the order in which they are
// first seen.
//
//   Interner groups(2);
//   uint32_t id = groups.intern({comm, cpu});   // 0, 1, 2 …
//   groups.at(id)[1]                            // cpu
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace sonde {

class Interner {
 public:
  explicit Interner(size_t arity) : arity_(arity), slots_(kInitialSlots, kEmpty) {}

  uint32_t intern(std::span<const uint64_t> tuple) {
    size_t mask = slots_.size() - 1;
    for (size_t at = hash(tuple.data()) & mask;; at = (at + 1) & mask) {
      uint32_t id = slots_[at];
      if (id == kEmpty) return add(tuple, at);
      if (equal(id, tuple.data())) return id;
    }
  }
  uint32_t intern(std::initializer_list<uint64_t> tuple) {
    return intern(std::span(tuple.begin(), tuple.size()));
  }

  [[nodiscard]] std::span<const uint64_t> at(uint32_t id) const {
    return {values_.data() + size_t{id} * arity_, arity_};
  }
  [[nodiscard]] size_t size() const { return count_; }
  [[nodiscard]] size_t arity() const { return arity_; }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  static constexpr size_t kInitialSlots = 64;

  [[nodiscard]] size_t hash(const uint64_t* tuple) const {
    if (arity_ == 1) return mix(tuple[0]);
    if (arity_ == 2) return mix(tuple[0] * 0x9e3779b97f4a7c15 + tuple[1]);
    return XXH3_64bits(tuple, arity_ * sizeof(uint64_t));
  }
  static size_t mix(uint64_t value) {
    value *= 0x9fb21c651e98df25;
    return value ^ (value >> 32);
  }
  [[nodiscard]] bool equal(uint32_t id, const uint64_t* tuple) const {
    const uint64_t* have = values_.data() + size_t{id} * arity_;
    for (size_t i = 0; i < arity_; ++i)
      if (have[i] != tuple[i]) return false;
    return true;
  }
  uint32_t add(std::span<const uint64_t> tuple, size_t at) {
    auto id = static_cast<uint32_t>(count_++);
    values_.insert(values_.end(), tuple.begin(), tuple.end());
    slots_[at] = id;
    if (count_ * 2 > slots_.size()) grow();
    return id;
  }
  void grow() {
    std::vector<uint32_t> slots(slots_.size() * 2, kEmpty);
    size_t mask = slots.size() - 1;
    for (uint32_t id = 0; id < count_; ++id) {
      size_t at = hash(values_.data() + size_t{id} * arity_) & mask;
      while (slots[at] != kEmpty) at = (at + 1) & mask;
      slots[at] = id;
    }
    slots_ = std::move(slots);
  }

  size_t arity_;
  size_t count_ = 0;
  std::vector<uint64_t> values_;
  std::vector<uint32_t> slots_;
};

}  // namespace sonde
