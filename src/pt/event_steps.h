// Steps of a walk through the code that end at events: what a trace tells besides branches happened
// at an address, or at the next instruction that can cause it (it binds to that).
#pragma once

#include "pt/code_steps.h"
#include "pt/walker.h"

namespace sonde::pt {

class EventSteps : public CodeSteps {
 public:
  EventSteps(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code)
      : CodeSteps(trace, setup, quirks, code), quirks_(quirks) {}

 protected:
  /// kReached if there is one.
  Status fetch_event() {
    if (has_event_) return kReached;
    if ((pending_ & kEventPending) == 0) return kDone;
    if (Status status = reader_.event(event_); status < kDone) return status;
    has_event_ = true;
    pending_ = reader_.flags();
    return kReached;
  }

  Status end_step() {
    result_ = has_event_ ? 0 : pending_ & kTraceEnds;  // events are told before the end
    return kDone;
  }
  Status end_step_at_event() {
    result_ = kEventPending;
    return kDone;
  }

  void forget_postponed() {
    postponed_ = CodeBlocks::kNone;
    bound_paging_ = bound_vmcs_ = false;
  }

  /// The block's last instruction is left once all events that it binds are told.
  Status postpone(uint32_t index) {
    postponed_ = index;
    return end_step_at_event();
  }

  Status leave_postponed() {
    if (postponed_ == CodeBlocks::kNone) return kDone;
    if (enabled_) {
      Status status = leave(postponed_);
      if (status == kBadQuery) status = leave_by_trace(postponed_);
      if (status < kDone) return status;
    }
    forget_postponed();
    return kDone;
  }

  /// To the next block or event.
  Status next() {
    found_.ip = ip_;
    found_.count = 0;
    found_speculative_ = speculative_;
    Status status = fetch_event();
    if (status < kDone) return status;
    if (status == kReached) return walk_to_event();
    if (!enabled_) return (pending_ & kTraceEnds) != 0 ? kEnd : kImpossible;
    status = walk_block();
    return status < kDone ? status : look_for_event();
  }

  /// To where the current event happened, or the end of a block on the way.
  Status walk_to_event() {
    result_ = 0;
    uint32_t index = CodeBlocks::kNone;
    Status status = kReached;
    switch (event_.type) {
      case EventType::kDisabled:
        status = event_.has_ip ? walk_to(event_.ip, index) : walk_to_binding(kBindsCr3, index);
        // It binds to any branch that asks the trace, too.
        if (status == kBadQuery) {
          set_resumption(index);
          status = kReached;
        }
        break;
      case EventType::kAsyncDisabled:
        status = walk_to(event_.from, index);
        if (status == kReached && is_skd022()) return walk_to_event();
        break;
      case EventType::kAsyncBranch:
        status = walk_to(event_.from, index);
        break;
      case EventType::kPaging:
        if (!enabled_) break;
        status = walk_to_binding(kBindsPaging, index);
        if (status != kReached) return status;
        bound_paging_ = true;
        return postpone(index);
      case EventType::kVmcs:
        if (!enabled_) break;
        status = walk_to_binding(kBindsVmcs, index);
        if (status != kReached) return status;
        bound_vmcs_ = true;
        return postpone(index);
      case EventType::kAsyncPaging:
      case EventType::kAsyncVmcs:
      case EventType::kMode:
        status = walk_by_trace_to(event_);
        break;
      case EventType::kTransaction:
      case EventType::kInterruptFlag:
        if (event_.has_ip) status = walk_to(event_.ip, index);
        break;
      case EventType::kControlFlow:
      case EventType::kItems:
        if (enabled_ && has_place()) status = walk_to(place(), index);
        break;
      default:
        break;
    }
    return status == kReached ? end_step_at_event() : status;
  }

  /// Erratum SKD022: the event is turned into what it should have been.
  bool is_skd022() {
    if (!quirks_.skd022 || mode_ == Mode::kUnknown) return false;
    uint32_t index = blocks_.at(event_.from, mode_ == Mode::k64Bit, now_);
    if (blocks_[index].count != 1 || (blocks_[index].bindings & kBindsLaunch) == 0) return false;
    event_.type = EventType::kDisabled;
    return true;
  }

  /// Where tracing may be expected to go on.
  void set_resumption(uint32_t index) {
    InstructionKind kind = blocks_.last(index).kind;
    bool is_call = kind == InstructionKind::kCall || kind == InstructionKind::kFarCall;
    ip_ = is_call ? blocks_[index].behind : 0;
  }

  // Of the current event, if it is of the event trace.
  [[nodiscard]] bool has_place() const { return event_.is_interrupt || event_.has_ip; }
  [[nodiscard]] uint64_t place() const { return event_.is_interrupt ? event_.from : event_.ip; }

  /// Whether the instruction that is not left yet binds the current event, too.
  bool binds_also(uint8_t binding, bool& is_bound) {
    if (postponed_ == CodeBlocks::kNone || is_bound) return false;
    if ((blocks_[postponed_].bindings & binding) == 0) return false;
    is_bound = true;
    return true;
  }

  /// Disabling at the instruction that is not left yet. kReached: it is.
  Status disable_postponed() {
    if (!event_.has_ip && (blocks_[postponed_].bindings & kBindsCr3) != 0) return kReached;
    Status status = leave(postponed_);
    if (status == kBadQuery) {
      set_resumption(postponed_);
      return kReached;
    }
    forget_postponed();
    return event_.has_ip && ip_ == event_.ip ? kReached : kDone;
  }

  /// Whether an event happened at the current address, where a block ended or another event did.
  Status look_for_event() {
    Status status = fetch_event();
    if (status < kDone) return status;
    if (status == kDone) {
      if (Status left = leave_postponed(); left < kDone) return left;
      return end_step();
    }
    bool is_here = false;
    switch (event_.type) {
      case EventType::kDisabled:
        if (postponed_ == CodeBlocks::kNone) break;
        status = disable_postponed();
        if (status < kDone) return status;
        is_here = status == kReached;
        break;
      case EventType::kPaging:
        is_here = !enabled_ || binds_also(kBindsPaging, bound_paging_);
        break;
      case EventType::kVmcs:
        is_here = !enabled_ || binds_also(kBindsVmcs, bound_vmcs_);
        break;
      default:
        if (Status left = leave_postponed(); left < kDone) return left;
        is_here = is_unbound_here();
        break;
    }
    if (is_here) return end_step_at_event();
    if (Status left = leave_postponed(); left < kDone) return left;
    return end_step();
  }

  /// Of the events that do not bind to instructions.
  bool is_unbound_here() {
    switch (event_.type) {
      case EventType::kAsyncDisabled:
        return ip_ == event_.from && !is_skd022();
      case EventType::kAsyncBranch:
        return ip_ == event_.from;
      case EventType::kControlFlow:
      case EventType::kItems:
        return !enabled_ || !has_place() || ip_ == place();
      case EventType::kInterruptFlag:
      case EventType::kAsyncPaging:
      case EventType::kAsyncVmcs:
      case EventType::kMode:
      case EventType::kTransaction:
        return !event_.has_ip || ip_ == event_.ip;
      default:
        return true;
    }
  }

  /// The current event takes effect.
  Status take_event(TraceEvent& event) {
    if (!has_event_) return kBadQuery;
    if (Status status = apply_event(); status < kDone) return status;
    has_event_ = false;
    event = event_;
    return look_for_event();
  }

  Status apply_event() {
    bool is_elsewhere = event_.has_ip && ip_ != event_.ip;
    switch (event_.type) {
      case EventType::kEnabled:
        if (enabled_) return kBadContext;
        ip_ = event_.ip;
        enabled_ = true;
        return kDone;
      case EventType::kAsyncDisabled:
        if (ip_ != event_.from) return kBadQuery;
        [[fallthrough]];
      case EventType::kDisabled:
        if (!enabled_) return kBadContext;
        enabled_ = false;
        return kDone;
      case EventType::kAsyncBranch:
        if (ip_ != event_.from) return kBadQuery;
        if (!enabled_) return kBadContext;
        ip_ = event_.ip;
        return kDone;
      case EventType::kAsyncPaging:
      case EventType::kAsyncVmcs:
        return is_elsewhere ? kBadQuery : kDone;
      case EventType::kOverflow:
        enabled_ = event_.has_ip;
        ip_ = event_.has_ip ? event_.ip : 0;
        speculative_ = false;
        return kDone;
      case EventType::kMode:
        return is_elsewhere ? kBadQuery : change_mode();
      case EventType::kInterruptFlag:
        return is_elsewhere ? kBadQuery : kDone;
      case EventType::kControlFlow:
      case EventType::kItems:
        return enabled_ && has_place() && ip_ != place() ? kBadQuery : kDone;
      case EventType::kTransaction:
        if (is_elsewhere) return kBadQuery;
        speculative_ = event_.begins;
        return kDone;
      case EventType::kStop:
        return enabled_ ? kBadContext : kDone;
      default:
        return kDone;
    }
  }

  Status change_mode() {
    Mode mode = event_.value != 0 ? Mode::k64Bit : Mode::k32Bit;
    if (event_.is_update && enabled_ && mode_ != Mode::kUnknown && mode_ != mode) return kBadUpdate;
    mode_ = mode;
    return kDone;
  }

  WalkQuirks quirks_;
  bool enabled_ = false, speculative_ = false;
  uint8_t result_ = 0;  // of the latest step: kEventPending, kTraceEnds
  TraceEvent event_;
  bool has_event_ = false;  // event_ did not take effect yet
  uint32_t postponed_ = CodeBlocks::kNone;
  bool bound_paging_ = false, bound_vmcs_ = false;
  bool found_speculative_ = false;
};

}  // namespace sonde::pt
