#include "script/code_bytes.h"

#include <algorithm>

#include "disasm/disassembler.h"

namespace sonde {

const MappedFile& CodeBytes::file_of(DsoId dso) const {
  std::scoped_lock lock(mutex_);
  auto [entry, added] = files_.try_emplace(dso.value);
  if (added) {
    entry.value() = std::make_unique<MappedFile>();
    std::string path = session_.symbolizer().object_path(dso);
    if (!path.empty())
      if (auto file = MappedFile::open(path)) *entry.value() = std::move(*file);
  }
  return *entry->second;
}

CodeBytes::Code CodeBytes::at(const Frame& frame, size_t size) const {
  constexpr size_t kClass = 4;  // index into e_ident
  constexpr std::byte kClass64{2};
  if (!frame.dso.valid() || session_.machine().dsos()[frame.dso].kind != DsoKind::kFile) return {};
  Bytes file = file_of(frame.dso).bytes();
  if (frame.address >= file.size() || file.size() <= kClass) return {};
  size_t left = file.size() - frame.address;
  return {file.subspan(frame.address, std::min(size, left)), file[kClass] == kClass64};
}

CodeBytes::Instruction CodeBytes::decode(const Code& code) const {
  constexpr size_t kArm64Length = 4;
  switch (arch_) {
    case abi::Arch::kX86:
    case abi::Arch::kX86_64: {
      disasm::InstructionSize x86 = disasm::measure_x86(code.bytes, code.is_64_bit);
      return {x86.length, x86.is_branch};
    }
    case abi::Arch::kArm64:
      return {code.bytes.size() < kArm64Length ? 0 : kArm64Length, false};
    default:
      return {};
  }
}

void append_instruction(Bytes instruction, std::string& out) {
  out += instruction.empty() ? "<bad>" : "insn: ";
  for (std::byte byte : instruction)
    fmt::format_to(std::back_inserter(out), "{:02x} ", std::to_integer<unsigned>(byte));
}

}  // namespace sonde
