// What the branch stacks of a recording say about the code of a function: where runs of it join and
// leave, cycles of its basic blocks, instructions per cycle.
//
// A block has a count of instructions only if its start is known. Where blocks overlap, an
// instruction gets the figure of the one that ends last.
#pragma once

#include <map>
#include <vector>

#include "replay/branches/blocks.h"
#include "replay/branches/coverage.h"
#include "view/listing.h"

namespace sonde::annotate {

class BranchColumns {
 public:
  /// Whether the samples have branch stacks, and are there one by one.
  static bool has_any(const Session& session);
  explicit BranchColumns(const Session& session);

  /// `out` must have the lines of the function.
  void add(SymbolId symbol, const SymbolInfo& function, view::Listing& out) const;

 private:
  CodeCoverage coverage_;
  BranchCounters counters_;
  std::vector<BranchCounters::Counter> counted_;   // those that samples had
  std::map<uint32_t, std::vector<Block>> blocks_;  // by symbol; those that end last first
};

}  // namespace sonde::annotate
