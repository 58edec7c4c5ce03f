#include "itrace/branch_ring.h"

#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {
namespace {

// PERF_BRANCH_ENTRY_INFO: the bits after `mispred` and `predicted`, which traces don't tell.
constexpr uint64_t kEntryInTransaction = 1u << 2, kEntryAborted = 1u << 3;

uint64_t entry_flags(uint32_t flags) {
  return ((flags & kTraceInTransaction) != 0 ? kEntryInTransaction : 0) |
         ((flags & kTraceAbort) != 0 ? kEntryAborted : 0);
}

}  // namespace

void BranchRing::add(const TakenBranch& branch) {
  if (entries_.size() < size_) {
    entries_.push_back(branch);
  } else if (size_ > 0) {
    entries_[next_] = branch;
    next_ = (next_ + 1) % size_;
  }
}

void BranchRing::put(std::vector<uint64_t>& words) const {
  for (size_t i = entries_.size(); i > 0; --i) {
    const TakenBranch& branch = entries_[(next_ + i - 1) % entries_.size()];
    words.insert(words.end(), {branch.from, branch.to, entry_flags(branch.flags)});
  }
}

}  // namespace sonde::itrace
