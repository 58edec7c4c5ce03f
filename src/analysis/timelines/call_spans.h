// The calls of one thread, put together from the branches that it took: when each function was
// entered, and when it returned.
//
//   CallSpans spans;
//   spans.branch(BranchKind::kCall, {0x401010, main}, {0x401200, parse, true}, 1000);
//   spans.branch(BranchKind::kReturn, {0x401250, parse}, {0x401015, main}, 1800);
//   … = std::move(spans).finish(2000);   // main from 1000 to 2000 (cut), in it parse, 1000 to 1800
//
// A return belongs to the call just before the address that it goes to, so longjmp and exceptions
// end all calls that they leave. A jump into another function replaces the running one: a tail
// call. Functions that were entered before the trace began appear when something returns to them;
// they are then as old as the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "view/timeline.h"

namespace sonde {

enum class BranchKind : uint8_t {
  kCall,
  kReturn,
  kJump,
  kBegin,  // tracing starts, or goes on: nothing is known of where it comes from
  kEnd,    // tracing pauses
};

class CallSpans {
 public:
  struct Code {
    uint64_t address = 0;
    uint32_t function = view::kNoIndex;  // any number; the same for the same function
    bool is_entry = false;               // the function's first instruction
  };
  /// In the order of execution; times, in ns, do not decrease.
  void branch(BranchKind kind, const Code& from, const Code& to, uint64_t time_ns);
  /// Part of the trace is missing: what ran before says nothing about what runs after.
  void lost(uint64_t time_ns);
  /// By start, then depth.
  [[nodiscard]] std::vector<view::TimelineCall> finish(uint64_t end_ns) &&;

 private:
  struct Call {
    uint32_t function;
    int32_t depth;          // may be negative: relative to the first that was seen
    uint64_t call_address;  // 0: not known
    uint64_t start_ns;
    bool is_cut;
  };
  struct Span {
    view::TimelineCall call;
    int32_t depth;
  };
  void enter(uint32_t function, uint64_t call_address, uint64_t time_ns, bool is_cut);
  void leave(uint64_t time_ns, bool is_cut = false);
  void leave_down_to(size_t size, uint64_t time_ns);
  void replace(const Code& by, uint64_t time_ns);
  void come_from(const Code& from, uint64_t time_ns);
  void come_back(const Code& to, uint64_t time_ns);
  void jump(const Code& to, uint64_t time_ns);
  void begin(const Code& to, uint64_t time_ns);
  [[nodiscard]] size_t size_down_to(uint32_t function) const;
  void end_stretch(uint64_t time_ns);

  std::vector<Call> stack_;
  std::vector<Span> spans_;
  size_t stretch_ = 0;  // the first span since something was lost
  uint64_t stretch_start_ns_ = UINT64_MAX;
  int32_t base_depth_ = 0;  // of a call that is entered when none is running
};

}  // namespace sonde
