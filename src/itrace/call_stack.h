// The calls that a thread is in, made of the branches that it took.
//
//   CallStack stack;
//   stack.take({from, to, kTraceBranch | kTraceCall, 5}, trace, time_ns);
//   for (const CallStack::Call& call : stack.left()) …   // innermost first
//   if (stack.entered()) … stack.calls().back() …
//
// A call is left when a branch returns behind it, or behind one that it was made in: longjmp leaves
// several. A return to an unknown place leaves none: its call was before the trace. A trace that
// begins anew at an address is taken for a return to it, and a call at which the trace ended is
// not expected to return. These are perf's rules, so that the depths agree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde::itrace {

struct TakenBranch {
  uint64_t from = 0, to = 0;  // 0: not known, or not traced
  uint32_t flags = 0;         // perfdata/records/trace_flags.h
  uint8_t length = 0;         // of the instruction in bytes; 0 for what interrupted one
};

class CallStack {
 public:
  struct Call {
    uint64_t return_address = 0;
    uint64_t callee = 0;  // the address that was called
    uint64_t entered_ns = 0;
    bool ends_trace = false;
  };

  /// Branches of one thread must come in order. Those of another `trace` (any number but 0) do not
  /// continue the earlier ones: all calls are left. Beyond kMostCalls the outermost half is
  /// forgotten without being left.
  void take(const TakenBranch& branch, uint64_t trace, uint64_t time_ns);

  /// Outermost first.
  [[nodiscard]] std::span<const Call> calls() const { return calls_; }
  /// The trace of the latest branch; 0 before the first.
  [[nodiscard]] uint64_t trace() const { return trace_; }
  [[nodiscard]] size_t depth() const { return calls_.size(); }
  /// What the latest branch left, innermost first.
  [[nodiscard]] std::span<const Call> left() const { return left_; }
  /// Whether the latest branch entered the innermost call.
  [[nodiscard]] bool entered() const { return entered_; }

  static constexpr size_t kMostCalls = size_t{1} << 20;

 private:
  void leave_down_to(size_t depth);
  void return_to(uint64_t address);
  void enter(const TakenBranch& branch, uint64_t time_ns);

  std::vector<Call> calls_, left_;
  bool entered_ = false;
  uint64_t trace_ = 0;
};

}  // namespace sonde::itrace
