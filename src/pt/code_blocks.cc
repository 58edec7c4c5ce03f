#include "pt/code_blocks.h"

#include <algorithm>
#include <array>

namespace sonde::pt {
namespace {

constexpr uint32_t kLongestBlock = 1024;  // instructions
constexpr size_t kReadAtOnce = 128;       // bytes
constexpr size_t kInstructionRoom = 15;

Ending ending_of(const DecodedInstruction& decoded) {
  switch (decoded.instruction.kind) {
    case InstructionKind::kConditional:
      return Ending::kConditional;
    case InstructionKind::kJump:
      return decoded.is_direct ? Ending::kJump : Ending::kIndirectJump;
    case InstructionKind::kCall:
      return decoded.is_direct ? Ending::kCall : Ending::kIndirectCall;
    case InstructionKind::kReturn:
      return Ending::kReturn;
    case InstructionKind::kFarCall:
    case InstructionKind::kFarReturn:
    case InstructionKind::kFarJump:
      return Ending::kFar;
    default:
      return Ending::kFallsThrough;
  }
}

}  // namespace

uint32_t CodeBlocks::look_up(uint64_t ip, bool is_64_bit, uint64_t tsc) {
  auto [entry, is_new] =
      by_address_[is_64_bit].try_emplace(ip, static_cast<uint32_t>(blocks_.size()));
  uint32_t index = entry->second;
  recent_[ip % kMostRecent] = {ip, index};
  if (!is_new) return index;
  CodeBlock block;
  block.ip = block.behind = ip;
  block.is_64_bit = is_64_bit;
  Instruction last;
  uint64_t target = 0;
  decode(block, last, target, tsc);
  blocks_.push_back(block);
  last_.push_back(last);
  targets_.push_back(target);
  return index;
}

uint32_t CodeBlocks::look_up_behind(uint32_t index, bool taken, uint64_t tsc) {
  uint64_t ip = taken ? targets_[index] : blocks_[index].behind;
  uint32_t next = at(ip, blocks_[index].is_64_bit, tsc);
  blocks_[index].next[taken] = next;
  return next;
}

void CodeBlocks::clear() {
  blocks_.clear();
  last_.clear();
  targets_.clear();
  for (auto& map : by_address_) map.clear();
  std::ranges::fill(recent_, Recent());
}

void CodeBlocks::decode(CodeBlock& block, Instruction& last, uint64_t& target, uint64_t tsc) {
  std::array<std::byte, kReadAtOnce> room;
  size_t at = 0, got = 0;
  while (block.count < kLongestBlock) {
    if (got - at < kInstructionRoom) {
      got = read_instructions(code_, block.behind, room, tsc);
      at = 0;
    }
    block.ending = got == 0 ? Ending::kNotMapped : Ending::kNoInstruction;
    auto bytes = std::span(room).subspan(at, std::min(got - at, kInstructionRoom));
    DecodedInstruction decoded = decoder_.decode(bytes, block.behind, block.is_64_bit);
    if (got == 0 || decoded.instruction.size == 0) return;
    last = decoded.instruction;
    ++block.count;
    at += last.size;
    block.behind += last.size;
    block.ending = ending_of(decoded);
    block.bindings = decoded.bindings;
    target = block.behind + static_cast<uint64_t>(decoded.displacement);
    block.enters = block.ending == Ending::kIndirectCall ||
                   (block.ending == Ending::kCall && decoded.displacement != 0);
    if (block.ending != Ending::kFallsThrough || block.bindings != 0) return;
  }
}

}  // namespace sonde::pt
