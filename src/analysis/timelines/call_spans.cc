#include "analysis/timelines/call_spans.h"

#include <algorithm>
#include <tuple>

namespace sonde {
namespace {

// The longest instruction of x86. An interrupt returns to the address that it came from.
constexpr uint64_t kLongestCall = 15;

bool returns_behind(uint64_t call_address, uint64_t to) {
  return call_address != 0 && to >= call_address && to - call_address <= kLongestCall;
}

}  // namespace

void CallSpans::branch(BranchKind kind, const Code& from, const Code& to, uint64_t time_ns) {
  stretch_start_ns_ = std::min(stretch_start_ns_, time_ns);
  if (from.address != 0) come_from(from, time_ns);
  switch (kind) {
    case BranchKind::kCall:
      if (to.address != 0) enter(to.function, from.address, time_ns, false);
      return;
    case BranchKind::kReturn:
      come_back(to, time_ns);
      return;
    case BranchKind::kJump:
      if (to.address != 0) jump(to, time_ns);
      return;
    case BranchKind::kBegin:
      begin(to, time_ns);
      return;
    case BranchKind::kEnd:
      return;
  }
}

void CallSpans::enter(uint32_t function, uint64_t call_address, uint64_t time_ns, bool is_cut) {
  int32_t depth = stack_.empty() ? base_depth_ : stack_.back().depth + 1;
  stack_.push_back({function, depth, call_address, time_ns, is_cut});
}

void CallSpans::leave(uint64_t time_ns, bool is_cut) {
  const Call& call = stack_.back();
  view::TimelineCall span{call.start_ns, time_ns, call.function, 0, call.is_cut || is_cut};
  spans_.push_back({span, call.depth});
  base_depth_ = call.depth;
  stack_.pop_back();
}

void CallSpans::leave_down_to(size_t size, uint64_t time_ns) {
  while (stack_.size() > size) leave(time_ns);
}

/// With the function on top; 0 if it is not running.
size_t CallSpans::size_down_to(uint32_t function) const {
  size_t size = stack_.size();
  while (size > 0 && stack_[size - 1].function != function) --size;
  return size;
}

void CallSpans::replace(const Code& by, uint64_t time_ns) {
  uint64_t call_address = stack_.back().call_address;
  leave(time_ns);
  enter(by.function, call_address, time_ns, false);
}

/// Branches say where they come from: whatever was misunderstood is put right.
void CallSpans::come_from(const Code& from, uint64_t time_ns) {
  if (stack_.empty()) return enter(from.function, 0, stretch_start_ns_, true);
  if (stack_.back().function == from.function) return;
  if (size_t size = size_down_to(from.function); size > 0)
    leave_down_to(size, time_ns);
  else
    replace(from, time_ns);
}

void CallSpans::come_back(const Code& to, uint64_t time_ns) {
  for (size_t size = stack_.size(); size > 0; --size)
    if (returns_behind(stack_[size - 1].call_address, to.address))
      return leave_down_to(size - 1, time_ns);
  if (stack_.empty()) return;
  if (to.address == 0) return leave(time_ns);  // to where is not traced
  bool is_outermost = stack_.size() == 1 && stack_.back().call_address == 0;
  if (is_outermost && !to.is_entry) {
    leave(time_ns);
    --base_depth_;
    return enter(to.function, 0, stretch_start_ns_, true);
  }
  jump(to, time_ns);
}

void CallSpans::jump(const Code& to, uint64_t time_ns) {
  if (stack_.empty()) return enter(to.function, 0, time_ns, !to.is_entry);
  if (stack_.back().function == to.function) return;
  size_t size = to.is_entry ? 0 : size_down_to(to.function);
  if (size > 0)
    leave_down_to(size, time_ns);
  else
    replace(to, time_ns);
}

void CallSpans::begin(const Code& to, uint64_t time_ns) {
  if (to.address == 0) return;
  if (stack_.empty()) return enter(to.function, 0, time_ns, !to.is_entry);
  if (to.is_entry) return enter(to.function, 0, time_ns, false);  // a signal, or called unseen
  if (size_t size = size_down_to(to.function); size > 0) return leave_down_to(size, time_ns);
  lost(time_ns);
  stretch_start_ns_ = time_ns;
  enter(to.function, 0, time_ns, true);
}

void CallSpans::lost(uint64_t time_ns) {
  end_stretch(time_ns);
}

void CallSpans::end_stretch(uint64_t time_ns) {
  while (!stack_.empty()) leave(time_ns, true);
  int32_t lowest = 0;
  for (size_t i = stretch_; i < spans_.size(); ++i) lowest = std::min(lowest, spans_[i].depth);
  for (size_t i = stretch_; i < spans_.size(); ++i)
    spans_[i].call.depth = static_cast<uint32_t>(spans_[i].depth - lowest);
  stretch_ = spans_.size();
  stretch_start_ns_ = UINT64_MAX;
  base_depth_ = 0;
}

std::vector<view::TimelineCall> CallSpans::finish(uint64_t end_ns) && {
  end_stretch(end_ns);
  std::vector<view::TimelineCall> calls;
  calls.reserve(spans_.size());
  for (const Span& span : spans_) calls.push_back(span.call);
  // Calls that begin and end at one time keep their order.
  std::ranges::stable_sort(calls, {}, [](const view::TimelineCall& call) {
    return std::tuple(call.start_ns, call.depth);
  });
  return calls;
}

}  // namespace sonde
