// CallTrie: all call paths of a profile as one prefix tree, each distinct path stored once.
//
//   main → work → read   (3 samples)            root ─ main ─ work ─ read   self 3
//   main → work          (1 sample)                              └ self 1
//
// A node is (parent, key); keys are small integers that the builder hands out (path_frames.h).
// Nodes are numbered in the order in which they are made, so a parent's number is always smaller
// than its children's, and sums over subtrees are one backward pass. Roots (one per group of
// samples) are nodes without a parent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.h"

namespace sonde {

class CallTrie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  CallTrie();

  uint32_t add_root(uint32_t group);
  /// The child of `parent` with this key, made if it is not there.
  uint32_t child(uint32_t parent, uint32_t key);
  /// Goes down from `node`, one child per key, and appends the nodes on the way to `nodes`.
  void descend(uint32_t node, std::span<const uint32_t> keys, std::vector<uint32_t>& nodes);

  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] uint32_t parent(uint32_t node) const { return nodes_[node].parent; }
  /// Of a root: its group.
  [[nodiscard]] uint32_t key(uint32_t node) const { return nodes_[node].key; }
  [[nodiscard]] bool is_root(uint32_t node) const { return nodes_[node].parent == kNone; }

  /// Orders children for `children_of`; nodes added later are not in it.
  void index_children();
  /// In the order of their making.
  [[nodiscard]] std::span<const uint32_t> children_of(uint32_t node) const {
    return {children_.data() + first_child_[node], first_child_[node + 1] - first_child_[node]};
  }

 private:
  struct Node {
    uint32_t parent;
    uint32_t key;
  };
  /// The whole edge stands in the slot, so that a step that is known costs one cache line.
  struct Slot {
    uint32_t parent = kNone;
    uint32_t key = 0;
    uint32_t node = kNone;
  };
  static constexpr size_t kFirstSlots = 1024;

  [[nodiscard]] size_t first_slot(uint32_t parent, uint32_t key) const {
    uint64_t edge = (uint64_t{parent} << 32) | key;
    return ((edge ^ (edge >> 29)) * 0x9fb21c651e98df25) >> shift_;
  }
  [[nodiscard]] size_t next_slot(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  uint32_t find(uint32_t parent, uint32_t key) const;
  void add_new(uint32_t parent, std::span<const uint32_t> keys, std::vector<uint32_t>& nodes);
  void insert(const Slot& edge);
  void make_room(size_t more);

  LargeVector<Node> nodes_;
  LargeVector<Slot> slots_ = LargeVector<Slot>(kFirstSlots);  // open addressing, half full at most
  int shift_ = 54;                                            // 64 - log2 of the slots
  std::vector<uint32_t> first_child_;
  std::vector<uint32_t> children_;
};

}  // namespace sonde
