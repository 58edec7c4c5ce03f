// InstructionCounter: counts samples by instruction, and whether the type that it touches is known.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datatype/session_types.h"
#include "disasm/disassembler.h"
#include "view/data_layout.h"

namespace sonde::datatype {

class InstructionCounter {
 public:
  /// `reason` says what is missing; empty if nothing is. Code for machines that cannot be decoded
  /// is not counted.
  void add(const PlacedCode& code, std::string_view reason, uint64_t samples);
  /// Most samples first.
  [[nodiscard]] std::vector<view::InstructionCounts> counts() &&;

 private:
  std::string name_of(const PlacedCode& code);

  std::map<std::pair<abi::Arch, bool>, std::optional<disasm::Disassembler>> decoders_;
  std::map<std::string, view::InstructionCounts> names_;
};

/// The name of an instruction without its operands, with the prefixes as written.
std::string_view mnemonic_of(std::string_view text);

}  // namespace sonde::datatype
