// Cycles by basic block (report --total-cycles): the code from where a branch went to where the
// next one came from, with the cycles that the processor counted between them.
//
// What belongs to a block is known where both ends are in one function. Blocks that end alike count
// together, as the longest of them: a shorter one is the same code, entered later.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "replay/session.h"
#include "report/options.h"
#include "view/table.h"

namespace sonde::report {

struct Block {
  DsoId dso;
  SymbolId symbol;
  uint64_t start = 0, end = 0;  // in the object: its first instruction, the branch that ends it
  uint64_t cycles = 0;
  uint64_t passes = 0;
};

struct BlockSums {
  std::vector<Block> blocks;  // most cycles first
  uint64_t total_cycles = 0;  // of all branches, those outside of functions included
};

/// Of the samples of these events. All symbols must be loaded (Session::load_all_symbols).
[[nodiscard]] BlockSums sum_blocks(const Session& session, std::span<const EventId> events);

/// A row per block, except those below `percent` of the cycles.
[[nodiscard]] view::Table block_table(const Session& session, const BlockSums& sums,
                                      double percent);

/// The first option given that does not apply to blocks; empty if none.
[[nodiscard]] std::string_view option_without_blocks(const ReportOptions& options);

}  // namespace sonde::report
