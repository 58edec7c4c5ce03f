// Steps of a walk through the code, a block at a time: where the program goes on, by the code
// itself or by what the trace says. What happens in between is for event_steps.h.
#pragma once

#include "pt/code_blocks.h"
#include "pt/instruction_table.h"
#include "pt/return_stack.h"
#include "pt/trace_reader.h"

namespace sonde::pt {

class CodeSteps {
 public:
  CodeSteps(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code)
      : compresses_returns_(setup.compresses_returns || !quirks.resumes),
        reader_(trace, setup, quirks),
        blocks_(code),
        instructions_(code) {}

 protected:
  enum class Mode : uint8_t { kUnknown, k32Bit, k64Bit };

  /// The latest instructions, as many as were reached at once.
  struct Found {
    uint64_t ip = 0;
    uint32_t count = 0;
    Instruction last;
  };

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
    if (!taken || !compresses_returns_) return kBadReturn;
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

  bool compresses_returns_;
  TraceReader reader_;
  CodeBlocks blocks_;
  InstructionTable instructions_;
  ReturnStack calls_;
  uint64_t ip_ = 0;  // of the next instruction
  Mode mode_ = Mode::kUnknown;
  uint8_t pending_ = 0;  // flags of the reader's latest answer
  Found found_;
  uint64_t now_ = 0;
};

}  // namespace sonde::pt
