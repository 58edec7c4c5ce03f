#include "capture/rings/ring_copies.h"

#include <algorithm>

namespace sonde {

size_t RingCopies::drain() {
  size_t fullest = 0;
  std::vector<CaptureRing>& rings = *rings_;
  for (size_t i = 0; i < rings.size(); ++i) {
    RingBuffer& ring = rings[i].buffer;
    RingPiece piece = ring.peek();
    fullest = std::max(fullest, piece.size());
    std::vector<std::byte>& copy = waiting_[i];
    copy.insert(copy.end(), piece.first.begin(), piece.first.end());
    copy.insert(copy.end(), piece.second.begin(), piece.second.end());
    ring.consume();
  }
  return fullest;
}

std::vector<RecordBlock> RingCopies::take() {
  // The newest batch is kept whatever its size: it is in use.
  std::vector<std::vector<std::byte>>& batch = kept_.emplace_back();
  for (std::vector<std::byte>& copy : waiting_) {
    if (copy.empty()) continue;
    kept_bytes_ += copy.size();
    batch.push_back(std::exchange(copy, {}));
  }
  while (kept_bytes_ > keep_bytes_ && kept_.size() > 1) {
    for (const std::vector<std::byte>& copy : kept_.front()) kept_bytes_ -= copy.size();
    kept_.pop_front();
    dropped_any_ = true;
  }
  std::vector<RecordBlock> blocks;
  uint64_t offset = 0;
  for (const std::vector<std::byte>& copy : batch) {
    RecordBlock block;
    block.bytes = copy;
    block.file_offset = offset;
    offset += copy.size();
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace sonde
