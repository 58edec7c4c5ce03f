// The path of a sample through its taken branches (report --branch-history): the branches put in
// front of its call chain, where they say how each function got to the call.
//
//   callee order   newest branch … oldest branch, then the call chain from the leaf on
//   caller order   oldest branch … newest branch, then the call chain from the root on
//
// A branch gives two steps: where it went, then where it came from. Repetitions are left out, and
// counted with the branch that follows them. Which ones are found, and how much of the call chain
// is left, is as in perf's machine code for call chains, as told by its output.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "perfdata/records/sample.h"

namespace sonde {

/// How branches are put into call chains.
struct BranchHistory {
  bool caller_order = false;
  uint32_t max_stack = UINT32_MAX;  // of the branches, and of the call chain
};

struct PathStep {
  enum class Kind : uint8_t { kCall, kTo, kFrom };
  Kind kind = Kind::kCall;
  uint16_t cpu_mode = 0;  // of a call; a branch may be in any
  uint64_t ip = 0;
  abi::BranchEntry branch = {};
  uint32_t iterations = 0;        // left out before this branch
  uint64_t iteration_cycles = 0;  // of the last of them
};

/// Appends the steps of a sample in the order of stored chains: in caller order, the last step
/// comes first. Returns false if the call chain has an unknown marker, and ends there.
bool append_branch_path(const Sample& sample, const BranchHistory& how, std::vector<PathStep>& out);

}  // namespace sonde
