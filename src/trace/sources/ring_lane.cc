#include "trace/sources/ring_lane.h"

namespace sonde {

void RingLane::add(const RingPiece& piece) {
  if (piece.empty()) return;
  std::vector<std::byte>& chunk = chunks_.emplace_back();
  chunk.reserve(piece.size());
  chunk.insert(chunk.end(), piece.first.begin(), piece.first.end());
  chunk.insert(chunk.end(), piece.second.begin(), piece.second.end());
  if (!has_front_) advance();
}

void RingLane::advance() {
  while (!chunks_.empty()) {
    const std::vector<std::byte>& chunk = chunks_.front();
    RecordBlock rest;
    rest.bytes = std::span(chunk).subspan(position_);
    RecordRange range(rest, kHostOrder);
    RecordView record;
    if (range.next(record)) {
      position_ += range.stopped_at();
      front_ = with_time(record, *events_);
      if (front_.time == 0 || front_.time == UINT64_MAX) front_.time = last_ns_;
      last_ns_ = front_.time;
      has_front_ = true;
      return;
    }
    chunks_.pop_front();
    position_ = 0;
  }
}

}  // namespace sonde
