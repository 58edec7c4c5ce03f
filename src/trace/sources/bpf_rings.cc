#include "trace/sources/bpf_rings.h"

#include "trace/sources/bpf_records.h"

namespace sonde {
namespace {

/// How often consumed space is given back, in records: a store to a line that the writer's CPU must
/// then fetch.
constexpr uint32_t kReleaseAfter = 64;

}  // namespace

BpfRings::BpfRings(std::span<BpfRing> rings) {
  for (BpfRing& ring : rings) heads_.push_back({.ring = &ring});
}

void BpfRings::look(uint64_t safe_ns) {
  safe_ns_ = safe_ns;
  for (Head& head : heads_) {
    head.ring->look();
    if (head.record.empty()) fetch(head);
  }
  choose();
}

void BpfRings::fetch(Head& head) {
  for (;;) {
    head.record = head.ring->front();
    head.time_ns = UINT64_MAX;
    if (head.record.empty() || time_of_record(head.record, head.time_ns)) return;
    ++bad_;
    head.ring->pop();
  }
}

void BpfRings::choose() {
  uint64_t oldest = UINT64_MAX;
  next_ns_ = UINT64_MAX;
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i].time_ns < oldest) {
      next_ns_ = oldest;
      oldest = heads_[i].time_ns;
      front_head_ = i;
    } else if (heads_[i].time_ns < next_ns_) {
      next_ns_ = heads_[i].time_ns;
    }
  }
  bool is_safe = oldest != UINT64_MAX && oldest <= safe_ns_;
  front_ = is_safe ? heads_[front_head_].record : Bytes{};
  front_ns_ = oldest;
}

void BpfRings::pop() {
  Head& head = heads_[front_head_];
  head.ring->pop();
  fetch(head);
  if (++head.popped >= kReleaseAfter || head.record.empty()) {
    head.ring->release();
    head.popped = 0;
  }
  // Usually the next record is from the same ring.
  if (head.time_ns <= next_ns_ && head.time_ns <= safe_ns_ && !head.record.empty()) {
    front_ = head.record;
    front_ns_ = head.time_ns;
    return;
  }
  choose();
}

}  // namespace sonde
