#include "replay/passes/block_shares.h"

#include <utility>

namespace sonde {

BlockShares::BlockShares(size_t blocks, size_t shares) {
  for (size_t i = 0; i < shares; ++i) {
    size_t first = blocks * i / shares;
    shares_.push_back({first, first, blocks * (i + 1) / shares});
  }
}

size_t BlockShares::size() const {
  std::lock_guard lock(mutex_);
  return shares_.size();
}

size_t BlockShares::first_block(size_t share) const {
  std::lock_guard lock(mutex_);
  return shares_[share].first;
}

size_t BlockShares::end_block(size_t share) const {
  std::lock_guard lock(mutex_);
  return shares_[share].end;
}

std::optional<size_t> BlockShares::next(size_t share) {
  std::lock_guard lock(mutex_);
  Share& from = shares_[share];
  if (from.next == from.end) return std::nullopt;
  return from.next++;
}

std::optional<size_t> BlockShares::split_largest() {
  std::lock_guard lock(mutex_);
  Share* largest = nullptr;
  size_t most = kLeastLeft - 1;
  for (Share& share : shares_) {
    bool is_begun = share.next > share.first;  // others wait for a thread, perhaps this one
    if (is_begun && share.end - share.next > most) {
      largest = &share;
      most = share.end - share.next;
    }
  }
  if (largest == nullptr) return std::nullopt;
  size_t middle = largest->end - most / 2;
  shares_.push_back({middle, middle, std::exchange(largest->end, middle)});
  return shares_.size() - 1;
}

}  // namespace sonde
