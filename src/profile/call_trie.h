// CallTrie: all call paths of a profile as one prefix tree, each distinct path stored once.
//
//   main → work → read   (3 samples)            root ─ main ─ work ─ read   self 3
//   main → work          (1 sample)                              └ self 1
//
// A node is (parent, key); keys are small integers assigned by the builder (path_frames.h). Roots
// are nodes without a parent. Nodes are numbered depth first: the descendants of a node are the
// numbers up to end_of(node), so sums over subtrees are one backward pass, and a walk over all
// paths is a forward pass. Paths must be appended in an order that keeps those with a common prefix
// together (path_order.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.h"

namespace sonde {

class CallTrie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Reserves for at most this many nodes.
  void reserve(size_t nodes) { nodes_.reserve(nodes); }
  /// Adds a root for the paths appended from now on. Here and below, `on_close(node, depth)` is
  /// called for each node that no later path will pass through, deeper ones first; roots have depth
  /// 0.
  template <typename OnClose>
  uint32_t add_root(uint32_t key, const OnClose& on_close) {
    close(0, on_close);
    return open(kNone, key);
  }
  /// Returns the node of the path's last step; the root for an empty path.
  template <typename OnClose>
  uint32_t append(std::span<const uint32_t> path, const OnClose& on_close) {
    close(1 + steps_in_common(path), on_close);
    for (uint32_t key : path.subspan(current_.size() - 1)) open(current_.back(), key);
    return current_.back();
  }
  /// Must be called after the last path.
  template <typename OnClose>
  void finish(const OnClose& on_close) {
    close(0, on_close);
  }

  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] uint32_t parent(uint32_t node) const { return nodes_[node].parent; }
  [[nodiscard]] uint32_t key(uint32_t node) const { return nodes_[node].key; }
  [[nodiscard]] bool is_root(uint32_t node) const { return nodes_[node].parent == kNone; }
  /// One past the last descendant.
  [[nodiscard]] uint32_t end_of(uint32_t node) const { return nodes_[node].end; }

  class Children;
  /// In numerical order.
  [[nodiscard]] Children children_of(uint32_t node) const;

 private:
  struct Node {
    uint32_t parent;
    uint32_t key;
    uint32_t end;
  };
  uint32_t open(uint32_t parent, uint32_t key);
  /// The number of steps shared with the path that was appended last.
  [[nodiscard]] size_t steps_in_common(std::span<const uint32_t> path) const;
  /// Closes the nodes of the current path from `depth` on.
  template <typename OnClose>
  void close(size_t depth, const OnClose& on_close) {
    for (size_t i = current_.size(); i-- > depth;) {
      nodes_[current_[i]].end = static_cast<uint32_t>(nodes_.size());
      on_close(current_[i], i);
    }
    current_.resize(depth);
  }

  LargeVector<Node> nodes_;
  std::vector<uint32_t> current_;  // nodes of the path that was appended last, root first
};

class CallTrie::Children {
 public:
  class Iterator {
   public:
    Iterator(const CallTrie& trie, uint32_t node) : trie_(&trie), node_(node) {}
    uint32_t operator*() const { return node_; }
    Iterator& operator++() {
      node_ = trie_->end_of(node_);
      return *this;
    }
    bool operator==(const Iterator& other) const { return node_ == other.node_; }

   private:
    const CallTrie* trie_;
    uint32_t node_;
  };
  Children(const CallTrie& trie, uint32_t parent) : trie_(trie), parent_(parent) {}
  [[nodiscard]] Iterator begin() const { return {trie_, parent_ + 1}; }
  [[nodiscard]] Iterator end() const { return {trie_, trie_.end_of(parent_)}; }

 private:
  const CallTrie& trie_;
  uint32_t parent_;
};

inline CallTrie::Children CallTrie::children_of(uint32_t node) const {
  return {*this, node};
}

}  // namespace sonde
