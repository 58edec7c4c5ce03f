#include "pt/walker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pt/event_steps.h"
#include "pt/loop_guard.h"
#include "pt/packet.h"

namespace sonde::pt {
namespace {

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
    case kCircles:
      return FlowError::kLoop;
    default:
      return FlowError::kInternal;
  }
}

class Walker final : private EventSteps {
 public:
  Walker(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code,
         FlowObserver& observer)
      : EventSteps(trace, setup, quirks, code),
        code_(code),
        observer_(observer),
        first_(reinterpret_cast<const uint8_t*>(trace.data())),
        watches_packets_(observer.watches_packets()),
        loops_(trace.size()) {}

  void run() {
    walk_all();
    if (reader_.cut_groups() > 0) observer_.items_cut(reader_.cut_groups());
  }

 private:
  void walk_all() {
    const uint8_t* stuck_at = nullptr;
    for (;;) {
      Status status = synchronize();
      if (status == kEnd) return;
      if (status < kDone) {
        tell_lost(error_of(status));
        if (std::exchange(stuck_at, reader_.synchronized_at()) == reader_.synchronized_at()) return;
        continue;
      }
      do status = walk_on();
      while (status != kEnd && go_on_behind(status));
      if (status == kEnd || has_ended_) return;
    }
  }

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

  /// To the end (kEnd) or an error.
  Status walk_on() {
    loops_.begin();
    Status status = kDone;
    for (;;) {
      while (status == kDone && (result_ & kEventPending) != 0) {
        TraceEvent event;
        status = take_event(event);
        tell_packets();
        if (status == kDone) tell(event);
        look_at_clock();
      }
      if (status < kDone) return status;
      if ((result_ & kTraceEnds) != 0) return kEnd;
      if (is_broken()) return kUnknownPacket;
      follow_code();
      uint64_t hurried = hurry();
      if (is_broken()) return kUnknownPacket;
      status = next();
      uint64_t before = now_;
      look_at_clock();
      tell_packets();
      tell(status, before);
      if (status < kDone) return status;
      if (loops_.passed(hurried + found_.count + 1, [this] { return position(); })) return kCircles;
    }
  }

  /// Nothing is known of what comes next, and nothing is left before it.
  [[nodiscard]] bool is_broken() const {
    return reader_.is_broken() && !has_event_ && (result_ & kEventPending) == 0;
  }

  // Behind an error.

  /// False if there is no place to go on before the next PSB.
  bool go_on_behind(Status status) {
    if (!quirks_.resumes) {
      tell_lost(error_of(status));
      return false;
    }
    if (is_broken()) {
      if (reader_.is_at_psb()) return false;  // synchronising tells what is wrong with it
      if (reader_.is_damaged()) {
        bool is_told = reader_.skip_damage();
        look_at_clock();
        if (enabled_ && ip_ != 0) told_ip_ = ip_;
        if (is_told) tell_lost(FlowError::kBadPacket);
        pending_ = reader_.flags();
        return look_for_event() == kDone || resume(false);
      }
      look_at_clock();
      tell_lost(error_of(reader_.broken()));
      return resume(false);
    }
    bool is_code = status == kNotMapped || status == kBadInstruction;
    if (is_code || status == kBadQuery || status == kCircles) {
      bool leads_on = reader_.pass_destination(has_event_);
      look_at_clock();
      // Code that nothing says to have run.
      if (is_code && !leads_on && reader_.is_at_end()) {
        has_ended_ = true;
        return false;
      }
    }
    tell_lost(error_of(status));
    return resume(is_code);
  }

  bool resume(bool needs_whole) {
    enabled_ = has_event_ = speculative_ = false;
    forget_postponed();
    calls_.clear();
    Resumption found;
    for (;;) {
      Status status = reader_.resume(needs_whole, found);
      tell_packets();
      look_at_clock();
      if (found.frequency) observer_.core_frequency(*found.frequency, now_);
      if (found.is_64_bit) mode_ = *found.is_64_bit ? Mode::k64Bit : Mode::k32Bit;
      if (status == kDone) break;
      if (status == kEnd) {
        has_ended_ = true;
        return false;
      }
      tell_lost(error_of(status));
    }
    if (found.kind == Resumption::Kind::kPsb) return false;
    pending_ = reader_.flags();
    if (found.kind == Resumption::Kind::kPlace) {
      ip_ = told_ip_ = found.ip;
      enabled_ = true;
      observer_.enabled(ip_, now_);
    }
    return look_for_event() == kDone;
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

  [[nodiscard]] uint64_t position() const {
    return static_cast<uint64_t>(reader_.position() - first_);
  }

  // What the observer is told.

  void tell_packets() {
    if (watches_packets_) observer_.packets_read(position());
  }

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
    if (event.allows_interrupts && event.type != EventType::kControlFlow)
      tell_interrupt_flag(event);
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
      case EventType::kControlFlow:
        return tell_control_flow(event);
      case EventType::kItems:
        return tell_items(event, ip);
      case EventType::kFrequency:
        return observer_.core_frequency(static_cast<uint32_t>(event.value), now_);
      default:
        return;
    }
  }

  void tell_interrupt_flag(const TraceEvent& event) {
    if (event.type == EventType::kInterruptFlag && event.has_ip) told_ip_ = event.ip;
    std::optional<uint64_t> ip;
    if (event.has_ip) ip = event.ip;
    observer_.interrupt_flag(*event.allows_interrupts,
                             event.is_update                           ? FlagChange::kKnown
                             : event.type == EventType::kInterruptFlag ? FlagChange::kAtPlace
                                                                       : FlagChange::kByBranch,
                             ip, now_);
  }

  void tell_control_flow(const TraceEvent& event) {
    constexpr size_t kMostData = UINT16_MAX;
    data_.clear();
    const uint8_t* end = event.packet + kCfeSize;
    Bytes packets(reinterpret_cast<const std::byte*>(event.packets),
                  static_cast<size_t>(end - event.packets));
    ControlFlowEvent told;
    Packet packet;
    for (size_t at = 0; at < packets.size() && read_packet(packets.subspan(at), packet);
         at += packet.size) {
      if (packet.type == PacketType::kEvd && data_.size() < kMostData)
        data_.push_back({packet.count, packet.payload});
    }
    told.data = data_;
    told.type = event.packet[2] & kCfeType;
    told.vector = event.packet[3];
    told.is_interrupt = event.is_interrupt;
    told.ends_tracing = event.ends_tracing;
    told.has_ip = event.is_interrupt || (event.packet[2] & kCfeHasIp) != 0;
    told.allows_interrupts = event.allows_interrupts;
    std::optional<uint64_t> ip;
    if (event.has_ip) ip = event.ip;
    if (event.is_interrupt) told.to = std::exchange(ip, event.from);
    observer_.control_flow(told, ip, now_);
  }

  void tell_items(const TraceEvent& event, std::optional<uint64_t> ip) {
    if (event.packets == nullptr) return;
    items_.read({reinterpret_cast<const std::byte*>(event.packets),
                 static_cast<size_t>(event.packet - event.packets)});
    // Without a place of its own it is where the walk is, as in perf.
    if (!ip && enabled_ && ip_ != 0) ip = ip_;
    observer_.items(items_, ip, now_);
  }

  // The short way.

  /// Follows blocks for as long as nothing happens but branches, and the observer need not be told
  /// of each, or is told of each. Returns the number of instructions.
  uint64_t hurry() {
    if (watches_packets_ || !enabled_ || has_event_ || pending_ != 0 || mode_ == Mode::kUnknown ||
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
    if (!reader_.next_bit() || calls_.empty() || !compresses_returns_) return CodeBlocks::kNone;
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

  CodeReader& code_;
  FlowObserver& observer_;
  const uint8_t* first_;  // byte of the trace
  bool watches_packets_;
  Block block_;
  std::vector<EventDatum> data_;                    // of the latest event
  BlockItems items_;                                // likewise
  uint64_t version_ = 0, checked_at_ = UINT64_MAX;  // of the code
  uint64_t told_ip_ = 0;
  LoopGuard loops_;
  bool has_ended_ = false;  // no address is in the rest of the trace
};

}  // namespace

void walk(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code,
          FlowObserver& observer) {
  if (trace.empty()) return;
  Walker(trace, setup, quirks, code, observer).run();
}

}  // namespace sonde::pt
