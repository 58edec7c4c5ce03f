// What an instruction of x86 is, as far as following a trace needs it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pt/flow_decoder.h"

namespace sonde::pt {

/// Which events an instruction binds, besides those that bind to branches.
enum Binding : uint8_t { kBindsCr3 = 1, kBindsPaging = 2, kBindsVmcs = 4, kBindsLaunch = 8 };

struct DecodedInstruction {
  Instruction instruction;  // its size is 0 if the bytes are none
  bool is_direct = false;   // a branch to the address that is `displacement` bytes behind it
  int64_t displacement = 0;
  uint8_t bindings = 0;
};

class InstructionDecoder {
 public:
  InstructionDecoder();
  ~InstructionDecoder();
  InstructionDecoder(const InstructionDecoder&) = delete;
  InstructionDecoder& operator=(const InstructionDecoder&) = delete;

  /// The instruction at the start of `bytes`, of which there may be more.
  [[nodiscard]] DecodedInstruction decode(std::span<const std::byte> bytes, uint64_t ip,
                                          bool is_64_bit) const;

 private:
  struct Decoders;
  std::unique_ptr<Decoders> decoders_;
};

/// Reads code from an address on, at least an instruction's bytes if that many are mapped; returns
/// their number.
size_t read_instructions(CodeReader& code, uint64_t ip, std::span<std::byte> to, uint64_t tsc);

}  // namespace sonde::pt
