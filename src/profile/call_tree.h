// Call trees of single rows, merged from the profile's paths on demand.
//
// The tree of a row contains the full paths of its own samples and, for other samples whose path
// goes through its place, the part from there on. Steps with the same call merge. A node is a run
// of steps that nothing enters or leaves in between. Merging only descends into what reaches the
// threshold, so the cost of a row's tree is roughly proportional to what is printed.
//
//   CallTreeBuilder builder(profile);
//   CallTree tree = builder.build(row, {.min_weight = total / 200});
//   tree.node(tree.top().front()).calls …
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/branch_counts.h"
#include "profile/profile.h"

namespace sonde {

class CallTree {
 public:
  struct Node {
    uint64_t cumulative = 0;  // period of all paths through it
    uint64_t self = 0;        // of the paths that end in it
    uint32_t count = 0;       // samples
    uint32_t self_count = 0;
    std::vector<uint32_t> calls;         // PathFrames::call: the run, in path order
    std::vector<BranchCounts> branches;  // of the calls; empty if they are not counted
    std::vector<uint32_t> children;  // nodes, heaviest first; those below the threshold are omitted
    [[nodiscard]] uint64_t below() const { return cumulative - self; }
  };
  [[nodiscard]] const Node& node(uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] const std::vector<uint32_t>& top() const { return top_; }
  [[nodiscard]] bool empty() const { return top_.empty(); }
  /// Samples with a call path.
  [[nodiscard]] uint64_t total() const { return total_; }
  [[nodiscard]] size_t size() const { return nodes_.size(); }

 private:
  friend class CallTreeBuilder;
  std::vector<Node> nodes_;
  std::vector<uint32_t> top_;
  uint64_t total_ = 0;
};

struct CallTreeOptions {
  uint64_t min_weight = 0;  // minimum period of a node
  double min_share_of_parent =
      -1;  // if not negative: a node must reach this share of its parent's `below` instead
  bool heaviest_first = true;  // otherwise in the order of calls
};

class CallTreeBuilder {
 public:
  /// `input` is the profile's, for counting branches.
  explicit CallTreeBuilder(const Profile& profile, const ProfileInput* input = nullptr);
  [[nodiscard]] CallTree build(size_t row, const CallTreeOptions& options);

 private:
  /// Paths that continue the same way from a node of the trie.
  struct Part {
    uint32_t call;
    uint32_t node;
    bool own;  // only the row's own samples; otherwise only the others
    uint32_t count;
    uint64_t weight;
  };
  struct Group {
    size_t begin, end;  // parts
    uint64_t weight = 0;
    uint64_t count = 0;
  };

  struct Weight {
    uint64_t period = 0;
    uint64_t count = 0;
  };

  void sum_own_ends(size_t row);
  /// The row's own samples at or below a node.
  [[nodiscard]] Weight own_below(uint32_t node) const;
  [[nodiscard]] std::vector<Part> first_steps(size_t row) const;
  void next_steps(std::span<const Part> parts, std::vector<Part>& out) const;
  void add_step(uint32_t node, bool own, std::vector<Part>& out) const;
  void add_children(uint32_t node, bool own, std::vector<Part>& out) const;
  static std::vector<Group> group_by_call(std::vector<Part>& parts);
  void sort_groups(const std::vector<Part>& parts, std::vector<Group>& groups) const;
  std::vector<uint32_t> make_nodes(std::vector<Part> parts, uint64_t below);
  uint32_t make_node(std::vector<Part> parts, const Group& group);
  /// Where a node of the trie is shown; `own`: for the row's own samples.
  void note_place(std::span<const Part> parts, uint32_t node);
  void count_branches(size_t row);
  void count_branches_of(const EndSample& member, bool own);

  const Profile& profile_;
  CallTreeOptions options_;
  CallTree tree_;
  std::vector<uint32_t> own_nodes_;  // where the row's own samples end, ascending
  std::vector<Weight> own_sums_;     // sums of the ends before each of own_nodes_, and of all
  struct Shown {
    uint32_t node;  // of tree_
    uint32_t call;  // index in its run
  };
  const ProfileInput* input_;                          // null: branches are not counted
  tsl::robin_map<uint64_t, Shown, NumberHash> shown_;  // by node of the trie and `own`
  std::vector<PathStep> steps_;
};

}  // namespace sonde
