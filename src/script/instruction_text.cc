#include "script/instruction_text.h"

namespace sonde {

InstructionText::InstructionText(const Session& session, disasm::Disassembler wide,
                                 disasm::Disassembler narrow)
    : session_(session),
      wide_(std::move(wide)),
      narrow_(std::move(narrow)),
      mutex_(std::make_unique<std::mutex>()) {}

Result<InstructionText> InstructionText::make(const Session& session, abi::Arch arch) {
  auto wide = TRY(disasm::Disassembler::make(arch, {}));
  auto narrow = TRY(disasm::Disassembler::make(arch, {.is_64_bit = false}));
  return InstructionText(session, std::move(wide), std::move(narrow));
}

void InstructionText::append(const CodeBytes::Code& code, const Place& place,
                             std::string& out) const {
  disasm::Instruction instruction;
  {
    std::scoped_lock lock(*mutex_);
    (code.is_64_bit ? wide_ : narrow_).decode(code.bytes, place.address, instruction);
  }
  while (instruction.text.ends_with(' ')) instruction.text.pop_back();
  out += instruction.text;
  if (!instruction.target) return;
  Frame target =
      session_.resolve(place.pid, place.time, RuntimeAddr(*instruction.target), place.cpu_mode);
  if (!target.symbol.valid()) return;
  fmt::format_to(std::back_inserter(out), " <{}", session_.symbolizer().name(target.symbol));
  if (uint64_t offset = target.address - target.symbol_start; offset != 0)
    fmt::format_to(std::back_inserter(out), "+{:#x}", offset);
  out += '>';
}

}  // namespace sonde
