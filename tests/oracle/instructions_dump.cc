// Sonde's text of instructions, for annotate_oracle.py to compare with objdump.
//
//   instructions_dump att|intel|arm64    for each line of standard input, an address and bytes in
//                                        hexadecimal ("1139 e8f2feffff"): LENGTH TEXT
#include <fmt/format.h>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "disasm/disassembler.h"

namespace sonde {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

int dump(std::string_view how) {
  disasm::Options options;
  if (how == "intel") options.syntax = disasm::Syntax::kIntel;
  abi::Arch arch = how == "arm64" ? abi::Arch::kArm64 : abi::Arch::kX86_64;
  auto code = disasm::Disassembler::make(arch, options);
  if (!code) return 1;
  disasm::Instruction instruction;
  for (std::string line; std::getline(std::cin, line);) {
    size_t blank = line.find(' ');
    std::vector<std::byte> bytes = bytes_of(std::string_view(line).substr(blank + 1));
    if (bytes.empty()) return 1;
    code->decode(Bytes(bytes), std::stoull(line, nullptr, 16), instruction);
    fmt::print("{} {}\n", instruction.length, instruction.text);
  }
  return 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  return sonde::dump(argc > 1 ? argv[1] : "att");
}
