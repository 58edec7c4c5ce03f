// Cycles by basic block: the code from where a branch went to where the next one came from, with
// the cycles that the processor counted between them.
//
// What belongs to a block is known where both ends are in one function. Blocks that end alike count
// together, as the longest of them: a shorter one is the same code, entered later.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "replay/branches/branch_counters.h"
#include "replay/session.h"

namespace sonde {

struct Block {
  /// Passes of which the cycles are kept one by one.
  static constexpr size_t kKept = 8;
  /// The passes of the longest block only.
  struct Longest {
    uint64_t cycles = 0, passes = 0;
    std::array<uint32_t, kKept> first = {};  // cycles of its first passes
    uint32_t replaced = 0;                   // times that a longer one took its place
  };

  DsoId dso;
  SymbolId symbol;
  uint64_t start = 0, end = 0;  // in the object: its first instruction, the branch that ends it
  bool has_start = false;       // otherwise `start` is the function's
  uint64_t cycles = 0;          // of all blocks with this end
  uint64_t passes = 0;
  uint64_t least = 0, most = 0;  // cycles of a pass
  Longest longest;
  std::vector<BranchCounters::Sum> counted;  // by BlockSums::counters

  [[nodiscard]] uint64_t average() const { return cycles / passes; }
};

struct BlockSums {
  std::vector<Block> blocks;  // most cycles first
  uint64_t total_cycles = 0;  // of all branches, those outside of functions included
  std::vector<BranchCounters::Counter> counters;  // branch counters of the samples; often none
};

/// Of the samples of the events that `wants` accepts. The symbols of their objects must be loaded
/// (Session::load_all_symbols).
[[nodiscard]] BlockSums sum_blocks(const Session& session,
                                   const std::function<bool(EventId)>& wants);

/// "p.c:4 -> p.c:5"; empty where source lines are not known.
[[nodiscard]] std::string block_lines(const Session& session, const Block& block);

}  // namespace sonde
