#include "unwind/call_stack_branches.h"

namespace sonde {
std::span<const uint64_t> BranchStitcher::calls_around(uint32_t tid, const Sample& sample) {
  std::vector<abi::BranchEntry> entries;
  for (size_t i = 0; i < sample.branch_count(); ++i) entries.push_back(sample.branch(i));
  Thread& thread = threads_[tid];
  if (!stitch(thread, entries, sample.branch_hw_index)) thread.around.clear();
  thread.entries = std::move(entries);
  thread.newest = sample.branch_hw_index;
  return thread.around;
}

/// Registers are used in turn. The outermost entry of this sample is in one of them: if the
/// previous sample had the same entry in that register, the entries around it there are around this
/// sample's, too. Returns false otherwise.
bool BranchStitcher::stitch(Thread& thread, std::span<const abi::BranchEntry> entries,
                            uint64_t newest) const {
  const std::vector<abi::BranchEntry>& before = thread.entries;
  if (entries.empty() || before.empty() || entries.size() > depth_ || before.size() > depth_ ||
      newest >= depth_ || thread.newest >= depth_)
    return false;
  uint64_t outermost = (newest + depth_ - (entries.size() - 1)) % depth_;
  uint64_t place = (thread.newest + depth_ - outermost) % depth_;  // in `before`
  if (place >= before.size() || before[place] != entries.back()) return false;
  std::vector<uint64_t> around;
  for (size_t i = place + 1; i < before.size(); ++i) around.push_back(before[i].from);
  around.insert(around.end(), thread.around.begin(), thread.around.end());
  thread.around = std::move(around);
  return true;
}

}  // namespace sonde
