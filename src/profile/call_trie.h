// CallTrie: all call paths of a profile as one prefix tree, each distinct path stored once.
//
//   main → work → read → vfs_read  (3 samples)      root ─ main work ─┬─ read vfs_read   self 3
//   main → work                    (1 sample)                  self 1 └─ exit            self 2
//   main → work → exit             (2 samples)
//
// A node is (parent, key); keys are small integers assigned by the builder (path_frames.h). Roots
// are nodes without a parent. Nodes are numbered depth first: the descendants of a node are the
// numbers up to end_of(node), so a walk over all paths is a forward pass.
//
// Most nodes have one child and no path that ends in them. Such a chain is one *run*: consecutive
// node numbers with the same end and the same sums, so a node takes little more than its key, and
// everything else is kept by run. A root is a run by itself.
//
// Paths must be appended in an order that keeps those with a common prefix together (path_order.h).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.h"

namespace sonde {

class CallTrie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A run that no later path will pass through.
  struct ClosedRun {
    size_t level;    // number of runs above it
    uint32_t nodes;  // its length
    bool is_rest;    // of a run that has been split: its beginning stays open, at the same level
  };
  struct Run {
    uint32_t first;   // node
    uint32_t parent;  // of the first node; kNone for roots
    uint32_t end;     // one past the last descendant
  };

  /// Reserves for at most this many nodes.
  void reserve(size_t nodes) { keys_.reserve(nodes); }
  /// Adds a root for the paths appended from now on. Here and below, `on_close(ClosedRun)` is
  /// called for each run when it is closed, inner ones first.
  template <typename OnClose>
  uint32_t add_root(uint32_t key, const OnClose& on_close) {
    close(0, on_close);
    return open({&key, 1});
  }
  /// Returns the node of the path's last step; the root for an empty path.
  template <typename OnClose>
  uint32_t append(std::span<const uint32_t> path, const OnClose& on_close) {
    size_t same = steps_in_common(path);
    close(1 + same, on_close);
    return same < path.size() ? open(path.subspan(same)) : open_.back().last();
  }
  /// The number of open runs, of which the last ends with the node that was returned last.
  [[nodiscard]] size_t levels() const { return open_.size(); }
  /// Must be called after the last path, before anything below. Returns the number of each run, in
  /// the order in which they were closed.
  template <typename OnClose>
  LargeVector<uint32_t> finish(const OnClose& on_close) {
    close(0, on_close);
    return number_runs();
  }

  /// Nodes.
  [[nodiscard]] size_t size() const { return keys_.size(); }
  [[nodiscard]] uint32_t key(uint32_t node) const { return keys_[node]; }
  [[nodiscard]] uint32_t parent(uint32_t node) const {
    const Run& run = runs_[run_of(node)];
    return node == run.first ? run.parent : node - 1;
  }
  [[nodiscard]] bool is_root(uint32_t node) const {
    const Run& run = runs_[run_of(node)];
    return node == run.first && run.parent == kNone;
  }
  /// One past the last descendant.
  [[nodiscard]] uint32_t end_of(uint32_t node) const { return runs_[run_of(node)].end; }
  /// The child of `node` on the way to its descendant.
  [[nodiscard]] uint32_t child_towards(uint32_t node, uint32_t descendant) const;

  /// By first node.
  [[nodiscard]] std::span<const Run> runs() const { return runs_; }
  [[nodiscard]] uint32_t run_of(uint32_t node) const {
    const Word& word = first_nodes_[node / 64];
    return word.before + static_cast<uint32_t>(std::popcount(word.bits << (63 - node % 64))) - 1;
  }
  /// One past the last node of a run.
  [[nodiscard]] uint32_t nodes_end(uint32_t run) const {
    return run + 1 < runs_.size() ? runs_[run + 1].first : static_cast<uint32_t>(keys_.size());
  }

  class Children;
  /// In numerical order.
  [[nodiscard]] Children children_of(uint32_t node) const;

 private:
  /// A run of the path that was appended last.
  struct OpenRun {
    uint32_t first;
    uint32_t parent;
    uint32_t nodes;
    size_t depth;  // steps above it
    [[nodiscard]] uint32_t last() const { return first + nodes - 1; }
  };
  uint32_t open(std::span<const uint32_t> keys);
  void add_run(uint32_t first, uint32_t parent);
  LargeVector<uint32_t> number_runs();
  /// The number of steps shared with the path that was appended last.
  [[nodiscard]] size_t steps_in_common(std::span<const uint32_t> path) const;
  /// Closes what is deeper than `depth` steps; the root is the first.
  template <typename OnClose>
  void close(size_t depth, const OnClose& on_close) {
    for (; !open_.empty() && open_.back().depth >= depth; open_.pop_back()) {
      add_run(open_.back().first, open_.back().parent);
      on_close(ClosedRun{open_.size() - 1, open_.back().nodes, false});
    }
    if (open_.empty()) return;
    OpenRun& run = open_.back();
    auto kept = static_cast<uint32_t>(depth - run.depth);
    if (kept >= run.nodes) return;
    add_run(run.first + kept, run.first + kept - 1);
    on_close(ClosedRun{open_.size() - 1, run.nodes - kept, true});
    run.nodes = kept;
  }

  /// Where runs begin: a bit for each of 64 nodes, and the number of runs before them.
  struct Word {
    uint64_t bits = 0;
    uint32_t before = 0;
  };
  LargeVector<uint32_t> keys_;
  LargeVector<Run> runs_;  // in the order of closing until they are numbered
  LargeVector<Word> first_nodes_;
  std::vector<OpenRun> open_;  // root first
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
