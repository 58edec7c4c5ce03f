// Call stacks kept by the processor itself (`--call-graph lbr`): in this mode of its branch
// records, a call adds an entry and a return removes it, so what is there when a sample is taken is
// the open calls, innermost first.
//
//   entry 0   { from: the call in the caller, to: the start of the function that was sampled }
//   entry 1   { from: the call in the caller's caller, … }
//
// They do not include the kernel, and are limited to the processor's number of registers: 16 or 32.
// A deeper call stack loses its outermost entries. BranchStitcher recovers those from the thread's
// previous sample, if both have an identical entry in the same register.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "perfdata/records/sample.h"

namespace sonde {

/// Whether an event's branch records are such call stacks.
[[nodiscard]] inline bool has_call_stacks(const abi::EventAttr& attr) {
  return attr.samples(abi::kSampleBranchStack) &&
         (attr.branch_sample_type & abi::kBranchCallStack) != 0;
}

/// Calls `visit(address)` for the user part of the chain, leaf first: the start of the sampled
/// function, then each call.
template <typename Visit>
void for_each_call(const Sample& sample, const Visit& visit) {
  for (size_t i = 0; i < sample.branch_count(); ++i) {
    abi::BranchEntry entry = sample.branch(i);
    if (i == 0) visit(entry.to);
    visit(entry.from);
  }
}

/// Takes samples of any threads; those of one thread must be in time order.
class BranchStitcher {
 public:
  /// `depth` is the number of branches that the processor holds.
  explicit BranchStitcher(size_t depth) : depth_(depth) {}

  /// The calls around the sample's own, innermost first; empty if there are none. Valid until the
  /// thread's next sample.
  std::span<const uint64_t> calls_around(uint32_t tid, const Sample& sample);

 private:
  struct Thread {
    std::vector<abi::BranchEntry> entries;
    uint64_t newest = 0;           // the register of entry 0
    std::vector<uint64_t> around;  // what was stitched to them
  };
  bool stitch(Thread& thread, std::span<const abi::BranchEntry> entries, uint64_t newest) const;

  size_t depth_;
  std::unordered_map<uint32_t, Thread> threads_;
};

}  // namespace sonde
