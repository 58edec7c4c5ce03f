#include "pt/instruction_table.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sonde::pt {
namespace {

constexpr size_t kMostRecent = 8192;      // a power of two
constexpr size_t kMostBlocks = 1u << 20;  // beyond it, tables begin anew

}  // namespace

InstructionTable::InstructionTable(CodeReader& code) : code_(code), recent_(kMostRecent) {}

void InstructionTable::clear() {
  std::ranges::fill(recent_, Instruction());
  sizes_.clear();
}

const Instruction& InstructionTable::at(uint64_t ip, bool is_64_bit, uint64_t tsc) {
  Instruction& found = recent_[ip & (kMostRecent - 1)];
  if (found.ip != ip || found.size == 0 || found.is_64_bit != is_64_bit)
    found = decode(ip, is_64_bit, tsc);
  return found;
}

Instruction InstructionTable::decode(uint64_t ip, bool is_64_bit, uint64_t tsc) const {
  std::array<std::byte, std::tuple_size_v<decltype(Instruction::bytes)>> bytes;
  size_t got = read_instructions(code_, ip, bytes, tsc);
  Instruction made = decoder_.decode(std::span(bytes).first(got), ip, is_64_bit).instruction;
  if (made.size == 0) {
    // No processor runs such bytes, but damaged traces lead to them.
    made.size = 1;
    std::memcpy(made.bytes.data(), bytes.data(), got);
  }
  return made;
}

std::span<const uint8_t> InstructionTable::of(const Block& block) {
  if (sizes_.size() >= kMostBlocks) sizes_.clear();
  Sizes& sizes = sizes_[block.ip];
  if (sizes.is_64_bit != block.last.is_64_bit) sizes = {block.last.is_64_bit, {}};
  std::vector<uint8_t>& known = sizes.of_instructions;
  // The same place may begin blocks of several lengths.
  uint64_t ip = block.ip;
  if (known.size() < block.count) {
    for (uint8_t size : known) ip += size;
    while (known.size() + 1 < block.count) {
      known.push_back(at(ip, block.last.is_64_bit, block.began).size);
      ip += known.back();
    }
    if (known.size() < block.count) known.push_back(block.last.size);
  }
  return std::span(known).first(block.count);
}

}  // namespace sonde::pt
