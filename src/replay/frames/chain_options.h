// How the call chains of samples are made.
#pragma once

#include <cstdint>
#include <optional>

#include "replay/frames/branch_path.h"

namespace sonde {

struct ChainOptions {
  uint32_t max_stack = UINT32_MAX;  // frames kept per chain, from the leaf
  bool merge_deferred = true;       // merge user parts that come in separate records
  /// Chains by frame pointers end where a caller cannot be one, in a mark: "[broken chain]".
  bool check = false;
  bool stitch_calls = false;  // `--call-graph lbr`: with those of preceding samples
  /// Branches are put in front of call chains. Not for recordings whose chains are copied stacks or
  /// come in several records, and without inlined functions.
  std::optional<BranchHistory> branch_history = std::nullopt;
};

}  // namespace sonde
