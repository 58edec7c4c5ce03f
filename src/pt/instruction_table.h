// What the instructions of executed blocks are, decoded once for each place: libipt tells where a
// block begins and ends, and how many instructions it has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tsl/robin_map.h>

#include "pt/flow_decoder.h"
#include "pt/instruction_decoder.h"

namespace sonde::pt {

class InstructionTable final : public BlockSizes {
 public:
  explicit InstructionTable(CodeReader& code);

  /// The instruction at an address. Bytes that are none have size 1.
  const Instruction& at(uint64_t ip, bool is_64_bit, uint64_t tsc);
  std::span<const uint8_t> of(const Block& block) override;
  /// The code may be another from now on.
  void clear();

 private:
  [[nodiscard]] Instruction decode(uint64_t ip, bool is_64_bit, uint64_t tsc) const;

  CodeReader& code_;
  InstructionDecoder decoder_;
  /// By the low bits of the address; the latest of those that share them.
  std::vector<Instruction> recent_;
  struct Sizes {
    bool is_64_bit = true;
    std::vector<uint8_t> of_instructions;
  };
  tsl::robin_map<uint64_t, Sizes> sizes_;  // by the address of a block
};

}  // namespace sonde::pt
