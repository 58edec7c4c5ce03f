// The last branches that a thread took, as a sample's branch stack has them.
#pragma once

#include <cstdint>
#include <vector>

#include "itrace/call_stack.h"

namespace sonde::itrace {

class BranchRing {
 public:
  explicit BranchRing(size_t size = 0) : size_(size) {}
  void add(const TakenBranch& branch);
  void clear() { entries_.clear(), next_ = 0; }
  /// Appends from, to and flags of each, the newest first: what abi::BranchEntry reads.
  void put(std::vector<uint64_t>& words) const;

 private:
  size_t size_;
  std::vector<TakenBranch> entries_;
  size_t next_ = 0;  // the oldest, once there are `size_` of them
};

}  // namespace sonde::itrace
