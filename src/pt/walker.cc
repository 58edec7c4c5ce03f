#include "pt/walker.h"

#include <algorithm>
#include <utility>

#include "pt/code_blocks.h"
#include "pt/instruction_table.h"
#include "pt/return_stack.h"
#include "pt/trace_reader.h"

namespace sonde::pt {
namespace {

/// Code without a single packet: more of it than any program has between two branches.
constexpr uint64_t kCheckedEvery = 1024, kMostWithoutTrace = 1u << 20;
/// Instructions that are passed quickly before it is looked whether trace is consumed, and those
/// that are told before the observer is asked again whether it wants to be.
constexpr uint64_t kHurriedAtOnce = 1u << 16, kToldAtOnce = 256;

FlowError error_of(Status status) {
  switch (status) {
    case kEnd:
      return FlowError::kNoData;
    case kNotMapped:
    case kBadInstruction:
      return FlowError::kNoInstruction;
    case kUnknownPacket:
    case kDamagedPacket:
      return FlowError::kBadPacket;
    case kBadQuery:
    case kBadContext:
    case kBadReturn:
    case kBadUpdate:
    case kNoAddress:
      return FlowError::kMismatch;
    default:
      return FlowError::kInternal;
  }
}

class Walker {
 public:
  Walker(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code,
         FlowObserver& observer)
      : reader_(trace, setup),
        quirks_(quirks),
        code_(code),
        observer_(observer),
        blocks_(code),
        instructions_(code) {}

  void run() {
    const uint8_t* stuck_at = nullptr;
    for (;;) {
      Status status = synchronize();
      if (status == kEnd) return;
      if (status < kDone) {
        tell_lost(error_of(status));
        if (std::exchange(stuck_at, reader_.synchronized_at()) == reader_.synchronized_at()) return;
        continue;
      }
      if (!walk_on()) return;
    }
  }

 private:
  enum class Mode : uint8_t { kUnknown, k32Bit, k64Bit };

  /// The latest instructions, as many as were reached at once.
  struct Found {
    uint64_t ip = 0;
    uint32_t count = 0;
    Instruction last;
  };

  // From one synchronisation to the next.

  Status synchronize() {
    ip_ = 0;
    mode_ = Mode::kUnknown;
    enabled_ = has_event_ = speculative_ = false;
    forget_postponed();
    calls_.clear();
    Status status = reader_.synchronize(ip_);
    if (status < kDone) return status;
    pending_ = reader_.flags();
    enabled_ = (pending_ & kTargetHidden) == 0;
    return look_for_event();
  }

  /// To the end or an error. False at the end.
  bool walk_on() {
    const uint8_t* last_position = nullptr;
    uint64_t since_trace = 0, unchecked = 0;
    Status status = kDone;
    for (;;) {
      while (status == kDone && (result_ & kEventPending) != 0) {
        TraceEvent event;
        status = take_event(event);
        if (status == kDone) tell(event);
        look_at_clock();
      }
      if (status < kDone) break;
      if ((result_ & kTraceEnds) != 0) return false;
      follow_code();
      unchecked += hurry();
      status = next();
      uint64_t before = now_;
      look_at_clock();
      tell(status, before);
      if (status < kDone) break;
      unchecked += found_.count + 1;
      if (unchecked < kCheckedEvery) continue;
      since_trace += std::exchange(unchecked, 0);
      const uint8_t* position = reader_.position();
      if (std::exchange(last_position, position) != position) since_trace = 0;
      if (since_trace < kMostWithoutTrace) continue;
      tell_lost(FlowError::kLoop);
      return true;
    }
    if (status == kEnd) return false;
    tell_lost(error_of(status));
    return true;
  }

  void look_at_clock() {
    if (reader_.has_time()) now_ = reader_.time();
  }

  void follow_code() {
    if (blocks_.is_full()) forget_code();
    if (now_ == checked_at_) return;
    checked_at_ = now_;
    uint64_t version = code_.version(now_);
    if (std::exchange(version_, version) != version) forget_code();
  }

  void forget_code() {
    blocks_.clear();
    instructions_.clear();
    calls_.forget_blocks(CodeBlocks::kNone);
  }

  // What the observer is told.

  void tell_lost(FlowError why) { observer_.lost(why, told_ip_, now_); }

  void tell(Status status, uint64_t before) {
    if (found_.count == 0) {
      if (found_.ip != 0) told_ip_ = found_.ip;
      return;
    }
    block_.ip = found_.ip;
    block_.count = found_.count;
    block_.began = before;
    block_.last = found_.last;
    block_.last.in_transaction = found_speculative_;
    told_ip_ = found_.last.ip;
    // What is behind it is not there.
    if (status == kNotMapped) told_ip_ += found_.last.size;
    observer_.ran(block_, instructions_, now_);
  }

  void tell(const TraceEvent& event) {
    if (event.has_time) now_ = event.time;
    if (event.is_update && event.type != EventType::kFrequency) return;
    std::optional<uint64_t> ip;
    if (event.has_ip) ip = event.ip;
    switch (event.type) {
      case EventType::kEnabled:
        told_ip_ = event.ip;
        return observer_.enabled(event.ip, now_);
      case EventType::kDisabled:
        return observer_.disabled(std::nullopt, ip, now_);
      case EventType::kAsyncDisabled:
        return observer_.disabled(event.from, ip, now_);
      case EventType::kAsyncBranch:
        return observer_.interrupted(event.from, ip, now_);
      case EventType::kOverflow:
        if (ip) told_ip_ = *ip;
        return tell_lost(FlowError::kOverflow);
      case EventType::kTransaction:
        return observer_.transaction(event.begins, event.aborts, ip, now_);
      case EventType::kFrequency:
        return observer_.core_frequency(static_cast<uint32_t>(event.value), now_);
      default:
        return;
    }
  }

  // Steps through the code.

  /// The block at the current address.
  Status look_up(uint32_t& index) {
    if (mode_ == Mode::kUnknown) return kBadInstruction;
    index = blocks_.at(ip_, mode_ == Mode::k64Bit, now_);
    return kDone;
  }

  /// All of a block was reached. Its last instruction may not be left yet.
  Status reach(uint32_t index) {
    const CodeBlock& block = blocks_[index];
    if (block.count > 0) {
      found_.count += block.count;
      found_.last = blocks_.last(index);
      ip_ = found_.last.ip;
    }
    if (block.ending == Ending::kNotMapped) return kNotMapped;
    if (block.ending == Ending::kNoInstruction) return kBadInstruction;
    if (block.enters) calls_.push(block.behind, index);
    return kDone;
  }

  /// Leaves a block without asking the trace; kBadQuery if that cannot be.
  Status leave(uint32_t index) {
    switch (blocks_[index].ending) {
      case Ending::kFallsThrough:
        ip_ = blocks_[index].behind;
        return kDone;
      case Ending::kJump:
      case Ending::kCall:
        ip_ = blocks_.target(index);
        return kDone;
      default:
        return kBadQuery;
    }
  }

  Status leave_by_return() {
    bool taken = false;
    Status status = reader_.conditional(taken);
    if (status == kBadQuery) return leave_by_target();
    if (status < kDone) return status;
    if (!taken) return kBadReturn;
    if (calls_.empty()) return kImpossible;
    ip_ = calls_.pop().returns_to;
    pending_ = reader_.flags();
    return kDone;
  }

  Status leave_by_target() {
    uint64_t target = ip_;
    if (Status status = reader_.indirect(target); status < kDone) return status;
    pending_ = reader_.flags();
    if ((pending_ & kTargetHidden) != 0) return kNoAddress;
    ip_ = target;
    return kDone;
  }

  /// Leaves a block as the trace says.
  Status leave_by_trace(uint32_t index) {
    switch (blocks_[index].ending) {
      case Ending::kConditional: {
        bool taken = false;
        if (Status status = reader_.conditional(taken); status < kDone) return status;
        pending_ = reader_.flags();
        ip_ = taken ? blocks_.target(index) : blocks_[index].behind;
        return kDone;
      }
      case Ending::kReturn:
        return leave_by_return();
      default:
        return leave_by_target();
    }
  }

  Status walk_block() {
    uint32_t index = 0;
    if (Status status = look_up(index); status < kDone) return status;
    if (Status status = reach(index); status < kDone) return status;
    Status status = leave(index);
    return status == kBadQuery ? leave_by_trace(index) : status;
  }

  /// To the next instruction that binds an event, or to a branch. kReached: it does, and is not
  /// left yet. `index` is the latest block's.
  Status walk_to_binding(uint8_t bindings, uint32_t& index) {
    for (;;) {
      if (Status status = look_up(index); status < kDone) return status;
      if (Status status = reach(index); status < kDone) return status;
      if ((blocks_[index].bindings & bindings) != 0) return kReached;
      if (Status status = leave(index); status < kDone || ends_step(index)) return status;
    }
  }

  /// To an address, or to a branch.
  Status walk_to(uint64_t ip, uint32_t& index) {
    for (;;) {
      if (ip_ == ip) return kReached;
      if (Status status = look_up(index); status < kDone) return status;
      if (reach_inside(index, ip)) return kReached;
      if (Status status = reach(index); status < kDone) return status;
      if (Status status = leave(index); status < kDone) return status;
      if (ends_step(index)) return ip_ == ip ? kReached : kDone;
    }
  }

  /// What is reached in one step ends with branches only, as far as times go: those of all but its
  /// last instruction are equal.
  bool ends_step(uint32_t index) const {
    constexpr uint32_t kMostInStep = 1u << 15;
    return blocks_[index].ending != Ending::kFallsThrough || found_.count > kMostInStep;
  }

  /// If an instruction of the block begins at `ip`, those before it are reached.
  bool reach_inside(uint32_t index, uint64_t ip) {
    const CodeBlock& block = blocks_[index];
    if (ip <= block.ip || ip > blocks_.last(index).ip) return false;
    uint64_t before = block.ip;
    uint32_t count = 1;
    for (;; ++count) {
      const Instruction& instruction = instructions_.at(before, block.is_64_bit, now_);
      if (before + instruction.size >= ip) {
        if (before + instruction.size > ip) return false;
        found_.last = instruction;
        break;
      }
      before += instruction.size;
    }
    found_.count += count;
    ip_ = ip;
    return true;
  }

  Status walk_by_trace_to(const TraceEvent& event) {
    if (!event.has_ip) return kReached;
    uint32_t index = 0;
    Status status = walk_to(event.ip, index);
    if (status == kBadQuery) {
      if (Status left = leave_by_trace(index); left < kDone) return left;
    } else if (status != kReached) {
      return status;
    }
    return ip_ == event.ip ? kReached : kDone;
  }

  // Events.

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
        if (event_.has_ip) status = walk_to(event_.ip, index);
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

  // The short way.

  /// Follows blocks for as long as nothing happens but branches, and the observer need not be told
  /// of each, or is told of each. Returns the number of instructions.
  uint64_t hurry() {
    if (!enabled_ || has_event_ || pending_ != 0 || mode_ == Mode::kUnknown ||
        postponed_ != CodeBlocks::kNone)
      return 0;
    uint32_t index = blocks_.at(ip_, mode_ == Mode::k64Bit, now_);
    FlowObserver::Indifference indifference = observer_.indifference(now_);
    uint64_t most = std::min(indifference.instructions, kHurriedAtOnce);
    if (most < blocks_[index].count) {
      // An instruction that must not be passed over is near: it is looked for step by step.
      return indifference.instructions > 0 ? 0 : hurry_telling(index);
    }
    return hurry_skipping(index, most, !indifference.to_calls);
  }

  uint64_t hurry_telling(uint32_t index) {
    uint64_t told = 0;
    block_.began = now_;
    while (told < kToldAtOnce) {
      uint32_t next = step(index);
      if (next == CodeBlocks::kNone) break;
      const CodeBlock& block = blocks_[index];
      block_.ip = block.ip;
      block_.count = block.count;
      block_.last = blocks_.last(index);
      block_.last.in_transaction = speculative_;
      told += block.count;
      told_ip_ = block_.last.ip;
      observer_.ran(block_, instructions_, now_);
      index = next;
      ip_ = blocks_[index].ip;
    }
    return told;
  }

  uint64_t hurry_skipping(uint32_t index, uint64_t most, bool tells_calls) {
    uint64_t first = ip_, passed = 0, untold = 0;
    uint32_t last = CodeBlocks::kNone;
    for (;;) {
      uint32_t count = blocks_[index].count;
      if (count > most - passed) break;
      Ending ending = blocks_[index].ending;
      uint32_t next = step(index);
      if (next == CodeBlocks::kNone) break;
      passed += count;
      untold += count;
      last = std::exchange(index, next);
      if (tells_calls && is_call_or_return(ending)) {
        tell_skipped(first, untold, last);
        first = blocks_[index].ip;
        untold = 0;
      }
    }
    if (untold > 0) tell_skipped(first, untold, last);
    ip_ = blocks_[index].ip;
    return passed;
  }

  void tell_skipped(uint64_t first, uint64_t count, uint32_t block) {
    const Instruction& last = blocks_.last(block);
    told_ip_ = last.ip;
    if (!speculative_) return observer_.skipped(first, count, last, now_);
    block_.last = last;
    block_.last.in_transaction = true;
    observer_.skipped(first, count, block_.last, now_);
  }

  static bool is_call_or_return(Ending ending) {
    return ending == Ending::kCall || ending == Ending::kReturn || ending == Ending::kIndirectCall;
  }

  /// Leaves a block, if that takes no more than a bit or an address of the trace, and nothing
  /// happens then. Returns the next one; kNone: nothing was done. Inlined: it runs for every block.
  [[gnu::always_inline]] uint32_t step(uint32_t index) {
    const CodeBlock& block = blocks_[index];
    switch (block.ending) {
      case Ending::kConditional: {
        if (!has_bit() || blocks_.is_at_end(index, reader_.next_bit())) return CodeBlocks::kNone;
        return blocks_.behind(index, reader_.take_bit(), now_);
      }
      case Ending::kCall:
        if (blocks_.is_at_end(index, true)) return CodeBlocks::kNone;
        if (block.enters) calls_.push(block.behind, index);
        return blocks_.behind(index, true, now_);
      case Ending::kJump:
        return blocks_.is_at_end(index, true) ? CodeBlocks::kNone
                                              : blocks_.behind(index, true, now_);
      case Ending::kReturn:
        return step_by_return(index);
      case Ending::kIndirectCall:
      case Ending::kIndirectJump:
        return step_by_target(index);
      case Ending::kFallsThrough:
        return blocks_.is_at_end(index, false) ? CodeBlocks::kNone
                                               : blocks_.behind(index, false, now_);
      default:
        return CodeBlocks::kNone;
    }
  }

  /// Whether a bit can be taken without anything but branches behind it.
  [[gnu::always_inline]] bool has_bit() {
    unsigned bits = reader_.bits();
    return bits > 1 || (bits == 1 ? reader_.is_quiet() : reader_.load_bits());
  }

  uint32_t step_by_return(uint32_t index) {
    if (blocks_.is_full()) return CodeBlocks::kNone;
    if (!has_bit()) return reader_.bits() > 0 ? CodeBlocks::kNone : step_by_target(index);
    if (!reader_.next_bit() || calls_.empty()) return CodeBlocks::kNone;
    (void)reader_.take_bit();
    ReturnStack::Call call = calls_.pop();
    if (call.block != CodeBlocks::kNone) return blocks_.behind(call.block, false, now_);
    return blocks_.at(call.returns_to, blocks_[index].is_64_bit, now_);
  }

  uint32_t step_by_target(uint32_t index) {
    uint64_t target = 0;
    if (blocks_.is_full() || !reader_.take_target(target)) return CodeBlocks::kNone;
    const CodeBlock& block = blocks_[index];
    if (block.ending == Ending::kIndirectCall) calls_.push(block.behind, index);
    uint32_t known = block.next[1];
    if (known != CodeBlocks::kNone && blocks_[known].ip == target) return known;
    uint32_t next = blocks_.at(target, block.is_64_bit, now_);
    blocks_.remember(index, next);
    return next;
  }

  TraceReader reader_;
  WalkQuirks quirks_;
  CodeReader& code_;
  FlowObserver& observer_;
  CodeBlocks blocks_;
  InstructionTable instructions_;
  ReturnStack calls_;

  uint64_t ip_ = 0;  // of the next instruction
  Mode mode_ = Mode::kUnknown;
  bool enabled_ = false, speculative_ = false;
  uint8_t pending_ = 0;  // flags of the reader's latest answer
  uint8_t result_ = 0;   // of the latest step: kEventPending, kTraceEnds
  TraceEvent event_;
  bool has_event_ = false;  // event_ did not take effect yet
  uint32_t postponed_ = CodeBlocks::kNone;
  bool bound_paging_ = false, bound_vmcs_ = false;

  Found found_;
  bool found_speculative_ = false;
  Block block_;
  uint64_t version_ = 0, checked_at_ = UINT64_MAX;  // of the code
  uint64_t now_ = 0;
  uint64_t told_ip_ = 0;
};

}  // namespace

void walk(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code,
          FlowObserver& observer) {
  if (trace.empty()) return;
  Walker(trace, setup, quirks, code, observer).run();
}

}  // namespace sonde::pt
