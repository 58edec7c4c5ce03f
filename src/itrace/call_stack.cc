#include "itrace/call_stack.h"

#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {

void CallStack::take(const TakenBranch& branch, uint64_t trace, uint64_t time_ns) {
  left_.clear();
  entered_ = false;
  if (trace != trace_) leave_down_to(0);
  trace_ = trace;
  if ((branch.flags & kTraceCall) != 0) {
    if (branch.to != 0) enter(branch, time_ns);
  } else if ((branch.flags & kTraceBegin) != 0) {
    return_to(branch.to);
    size_t depth = calls_.size();
    while (depth > 0 && calls_[depth - 1].ends_trace) --depth;
    leave_down_to(depth);
  } else if ((branch.flags & kTraceReturn) != 0 && branch.from != 0 && branch.to != 0) {
    return_to(branch.to);
  }
}

void CallStack::enter(const TakenBranch& branch, uint64_t time_ns) {
  uint64_t return_address = branch.from + branch.length;
  // "call next; next: pop" only asks where it is.
  if (return_address == branch.to) return;
  if (calls_.size() >= kMostCalls) calls_.erase(calls_.begin(), calls_.begin() + kMostCalls / 2);
  calls_.push_back({return_address, branch.to, time_ns, (branch.flags & kTraceEnd) != 0});
  entered_ = true;
}

void CallStack::return_to(uint64_t address) {
  for (size_t i = calls_.size(); i > 0; --i)
    if (calls_[i - 1].return_address == address) return leave_down_to(i - 1);
}

void CallStack::leave_down_to(size_t depth) {
  if (depth + 1 == calls_.size()) {  // as nearly always
    left_.push_back(calls_.back());
    calls_.pop_back();
    return;
  }
  left_.insert(left_.end(), calls_.rbegin(), calls_.rend() - static_cast<std::ptrdiff_t>(depth));
  calls_.resize(depth);
}

}  // namespace sonde::itrace
