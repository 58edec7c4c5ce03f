// How often each basic block of a program ran, and each way between two blocks, from counts of
// branches and a compiler's map of the blocks.
//
//   block 0   ran 250   ──► 1: 247 (falls through), 3: 3 (branches)
//
// A branch to the start of a block of the same function is a way between blocks, one to the entry
// of a function is a call. A return to the start of a block comes from the block in front, which
// ends with the call; other returns are no ways between blocks, and neither is an exception's to
// its landing pad. A stretch between two branches runs every block that begins in it, and falls
// through from each to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "elf/basic_block_map.h"
#include "elf/segment_map.h"
#include "profile/branch_profile.h"

namespace sonde {

struct FunctionFlow {
  struct Edge {
    uint32_t from = 0, to = 0;  // indices of blocks in the function
    uint64_t count = 0;
  };
  uint32_t function = 0;         // index in the map
  std::vector<uint64_t> counts;  // by block, how often it ran
  std::vector<Edge> edges;       // sorted by from and to; none twice
};

struct ProgramFlow {
  struct Call {
    uint32_t from = 0, to = 0;  // indices of functions in the map, never equal
    uint64_t count = 0;
  };
  std::vector<FunctionFlow> functions;  // those that ran, by index in the map
  std::vector<Call> calls;              // sorted by from and to; none twice
  uint64_t unmapped = 0;                // branches from code of which the map has no block
  uint64_t strayed = 0;                 // stretches that run from one function into the next
};

/// `segments`: of the object, whose branches are given as offsets in its file.
[[nodiscard]] ProgramFlow flow_of(const BranchProfile::Object& object, const SegmentMap& segments,
                                  const BasicBlockMap& map);

}  // namespace sonde
