#include "kwork/work_table.h"

namespace sonde {

void Work::add(const WorkSpan& span) {
  uint64_t length = span.end_ns - span.start_ns;
  if (length > longest_ns || longest_ns == 0) {
    longest_ns = length;
    longest_start_ns = span.start_ns;
    longest_end_ns = span.end_ns;
  }
  total_ns += length;
  ++count;
}

bool Work::end_raise(uint64_t time, WorkSpan& span) {
  if (raised_.empty()) {
    ++lone_entries_;
    return false;
  }
  span = {.start_ns = raised_.back(), .end_ns = time};
  raised_.pop_back();
  return true;
}

void Work::begin(uint64_t time) {
  uint64_t raised = 0;
  if (!raised_.empty()) {
    raised = raised_.back();
    raised_.pop_back();
  }
  begun_.push_back({time, raised});
}

bool Work::end(uint64_t time, WorkSpan& span) {
  if (begun_.empty()) {
    ++lone_exits_;
    return false;
  }
  span = {begun_.back().time, time, begun_.back().raised_ns};
  begun_.pop_back();
  return true;
}

std::array<uint64_t, kWorkPhases> Work::without_partner() const {
  return {raised_.size(), begun_.size() + lone_entries_, lone_exits_};
}

std::array<uint64_t, kWorkPhases> WorkTable::without_partner() const {
  std::array<uint64_t, kWorkPhases> sums{};
  for (const Work& work : works_) {
    auto own = work.without_partner();
    for (size_t i = 0; i < kWorkPhases; ++i) sums[i] += own[i];
  }
  return sums;
}

}  // namespace sonde
