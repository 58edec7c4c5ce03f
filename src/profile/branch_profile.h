// How often each branch was taken, and each stretch of code between two of them run, by object:
// what compilers ask of a profile.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/interner.h"
#include "replay/session.h"

namespace sonde {

/// Addresses are offsets in an object's file.
class BranchProfile {
 public:
  struct Pair {
    uint64_t from = 0, to = 0;
    uint64_t count = 0;
    uint64_t mispredicted = 0;  // of a branch
  };
  struct Object {
    DsoId dso;
    std::vector<Pair> ranges;    // first byte of the first and of the last instruction; sorted
    std::vector<Pair> branches;  // to: 0 if it left the object; sorted
    uint64_t taken = 0;          // sum of the branches' counts
  };

  /// One run of the code from a branch's target to the next branch.
  void add_range(DsoId dso, uint64_t first, uint64_t last) {
    add(ranges_, range_counts_, dso, first, last, false);
  }
  /// A branch taken once; `to` is 0 outside of the object.
  void add_branch(DsoId dso, uint64_t from, uint64_t to, bool was_mispredicted) {
    add(branches_, branch_counts_, dso, from, to, was_mispredicted);
  }
  /// Those with the most branches first.
  [[nodiscard]] std::vector<Object> by_object() const;

 private:
  struct Count {
    uint64_t times = 0, mispredicted = 0;
  };
  static void add(Interner& keys, std::vector<Count>& counts, DsoId dso, uint64_t from, uint64_t to,
                  bool was_mispredicted) {
    uint32_t id = keys.intern({dso.value, from, to});
    if (id == counts.size()) counts.emplace_back();
    ++counts[id].times;
    if (was_mispredicted) ++counts[id].mispredicted;
  }

  Interner ranges_{3}, branches_{3};
  std::vector<Count> range_counts_, branch_counts_;
};

struct BranchTotals {
  uint64_t samples = 0;  // with branches
  uint64_t broken = 0;   // stretches that no code can have: it ends before its start, or is endless
};

/// Of an instruction trace: every branch that was taken.
[[nodiscard]] ItraceOptions trace_of_branches();

/// Counts the branches of all samples: those of an instruction trace, of which the session was
/// opened with trace_of_branches(), each once, or else those of branch stacks.
[[nodiscard]] BranchProfile profile_branches(const Session& session, BranchTotals& totals);

}  // namespace sonde
