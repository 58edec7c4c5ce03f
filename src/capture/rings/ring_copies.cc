#include "capture/rings/ring_copies.h"

#include <algorithm>
#include <cstring>

namespace sonde {
namespace {

/// Appends the records of `newest_first`, oldest first: later stages expect the order of time.
void append_in_order(std::span<const std::byte> newest_first, std::vector<std::byte>& out) {
  std::vector<Bytes> records;
  while (newest_first.size() >= sizeof(abi::RecordHeader)) {
    abi::RecordHeader header;
    std::memcpy(&header, newest_first.data(), sizeof header);
    if (header.size < sizeof header || header.size > newest_first.size()) break;
    records.push_back(newest_first.first(header.size));
    newest_first = newest_first.subspan(header.size);
  }
  for (size_t i = records.size(); i-- > 0;)
    out.insert(out.end(), records[i].begin(), records[i].end());
}

}  // namespace

size_t RingCopies::drain() {
  size_t fullest = 0;
  std::vector<CaptureRing>& rings = set_->rings();
  for (size_t i = 0; i < rings.size(); ++i) {
    RingBuffer& ring = rings[i].buffer;
    if (ring.is_backward()) continue;
    RingPiece piece = ring.peek();
    fullest = std::max(fullest, piece.size());
    if (joiner_ != nullptr) piece = {joiner_->join(rings[i].cpu, piece.first, piece.second), {}};
    std::vector<std::byte>& copy = waiting_[i];
    copy.insert(copy.end(), piece.first.begin(), piece.first.end());
    copy.insert(copy.end(), piece.second.begin(), piece.second.end());
    ring.consume();
  }
  return fullest;
}

void RingCopies::read_backward() {
  if (!set_->any_backward()) return;
  std::vector<CaptureRing>& rings = set_->rings();
  set_->pause_backward(true);
  std::vector<std::vector<std::byte>> copies(rings.size());
  for (size_t i = 0; i < rings.size(); ++i) {
    if (!rings[i].buffer.is_backward()) continue;
    RingPiece piece = rings[i].buffer.peek_backward();
    copies[i].insert(copies[i].end(), piece.first.begin(), piece.first.end());
    copies[i].insert(copies[i].end(), piece.second.begin(), piece.second.end());
  }
  set_->pause_backward(false);  // the kernel drops records until then
  for (size_t i = 0; i < rings.size(); ++i) append_in_order(copies[i], waiting_[i]);
}

std::vector<RecordBlock> RingCopies::take() {
  read_backward();
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
