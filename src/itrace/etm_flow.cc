#include "itrace/etm_flow.h"

#include <algorithm>

#include "base/bytes.h"

namespace sonde::itrace {
namespace {

constexpr uint8_t kInstructionSize = 4;
constexpr uint32_t kCallException = 2;  // SVC, HVC, SMC (Arm IHI 0064, exception packets)

pt::InstructionKind kind_of(const etm::ExecutedRange& range) {
  using Last = etm::ExecutedRange::Last;
  using Kind = pt::InstructionKind;
  switch (range.last) {
    case Last::kOther:
      return Kind::kOther;
    case Last::kJump:
    case Last::kIndirectJump:
      return range.is_conditional ? Kind::kConditional : Kind::kJump;
    case Last::kCall:
    case Last::kIndirectCall:
      return Kind::kCall;
    case Last::kReturn:
      return Kind::kReturn;
    case Last::kExceptionReturn:
      return Kind::kFarReturn;
  }
  return Kind::kOther;
}

}  // namespace

uint8_t EtmFlow::size_at(const etm::ExecutedRange& range, uint64_t address) {
  if (!range.is_thumb) return kInstructionSize;
  // Arm DDI 0406, A6.1: the first halfword of 32-bit instructions begins with 0b11101 or more.
  constexpr uint16_t kFirstOfTwo = 0xe800;
  std::byte halfword[2] = {};
  if (read_(address, halfword) < sizeof halfword) return sizeof halfword;
  return load<uint16_t>(halfword, ByteOrder::kLittle) >= kFirstOfTwo ? kInstructionSize
                                                                     : sizeof halfword;
}

void EtmFlow::ran(const etm::ExecutedRange& range, uint64_t now) {
  if (range.end <= range.start) return;
  put_held(now);
  if (exception_from_) {
    put_exception(range.start, now);
  } else if (!is_running_) {
    observer_.enabled(range.start, now);
  }
  is_running_ = true;
  pt::Instruction instruction;
  uint64_t last = range.end - std::min<uint64_t>(range.last_size, range.end - range.start);
  for (uint64_t ip = range.start; ip < range.end; ip += instruction.size) {
    put_held(now);
    instruction.ip = ip;
    instruction.size = ip >= last ? static_cast<uint8_t>(range.end - ip) : size_at(range, ip);
    instruction.kind = ip >= last ? kind_of(range) : pt::InstructionKind::kOther;
    held_ = instruction;
  }
}

void EtmFlow::put_held(uint64_t now) {
  if (held_) observer_.instruction(*held_, now);
  held_.reset();
}

void EtmFlow::put_exception(std::optional<uint64_t> to, uint64_t now) {
  if (to)
    observer_.interrupted(*exception_from_, to, now);
  else
    observer_.disabled(*exception_from_, std::nullopt, now);
  exception_from_.reset();
}

void EtmFlow::interrupted(uint64_t now) {
  put_held(now);
  if (exception_from_)
    put_exception(std::nullopt, now);
  else if (is_running_)
    observer_.disabled(std::nullopt, std::nullopt, now);
  is_running_ = false;
}

void EtmFlow::exception(uint32_t number, uint64_t return_address, uint64_t now) {
  if (!is_running_) return;
  bool follows_held = held_ && held_->ip + held_->size == return_address;
  bool is_call = number == kCallException && follows_held;
  if (is_call) held_->kind = pt::InstructionKind::kSystemCall;
  // perf tells the last instruction that ran, not the one that would have been next.
  bool is_branch = held_ && held_->kind != pt::InstructionKind::kOther;
  uint64_t from = follows_held && !is_branch ? held_->ip : return_address;
  put_held(now);
  if (!is_call) exception_from_ = from;
}

void EtmFlow::lose(pt::FlowError why, uint64_t address, uint64_t now) {
  put_held(now);
  if (exception_from_) put_exception(address != 0 ? std::optional(address) : std::nullopt, now);
  is_running_ = false;
  observer_.lost(why, address, now);
}

void EtmFlow::lost(etm::Lost why, uint64_t address, uint64_t now) {
  switch (why) {
    case etm::Lost::kNoCode:
      return lose(pt::FlowError::kNoInstruction, address, now);
    case etm::Lost::kBadPacket:
      return lose(pt::FlowError::kBadPacket, address, now);
    case etm::Lost::kOverflow:
      return lose(pt::FlowError::kOverflow, address, now);
  }
}

void EtmFlow::gave_up(uint64_t now) {
  lose(pt::FlowError::kMismatch, 0, now);
}

}  // namespace sonde::itrace
