#include "script/code_bytes.h"

#include <algorithm>

#include "disasm/disassembler.h"
#include "itrace/code_image.h"

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

CodeBytes::CodeBytes(const Session& session, abi::Arch arch, bool with_kernel)
    : session_(session), arch_(arch) {
  if (!with_kernel) return;
  const Symbolizer& names = session.symbolizer();
  kernel_.emplace(session.recording(), session.machine(),
                  itrace::KernelCode::Sources{
                      [&names](const Dso&) { return names.kernel_core(); },
                      [&names](DsoId id, const Dso&) { return names.kernel_image(id); }});
}

CodeBytes::Code CodeBytes::at(const Frame& frame, size_t size) const {
  if (!frame.dso.valid()) return {};
  const Dso& object = session_.machine().dsos()[frame.dso];
  switch (object.kind) {
    case DsoKind::kFile:
      return in_file(frame, size);
    case DsoKind::kJitDump: {
      const JitObject* generated = session_.symbolizer().generated_code(frame.dso);
      Bytes code =
          generated != nullptr ? itrace::generated_code(*generated, frame.address) : Bytes();
      return {.bytes = code.first(std::min(size, code.size()))};
    }
    case DsoKind::kKernel:
    case DsoKind::kModule:
    case DsoKind::kBpf:
      return object.is_guest ? Code() : in_kernel(frame.address, size);
    default:
      return {};
  }
}

CodeBytes::Code CodeBytes::in_kernel(uint64_t address, size_t size) const {
  if (!kernel_) return {};
  constexpr uint64_t kAtTheEnd = UINT64_MAX - 1;  // programs that were loaded then
  auto own = std::make_unique<std::byte[]>(size);
  std::scoped_lock lock(mutex_);
  size_t known = kernel_->read(kAtTheEnd, address, {own.get(), size});
  return {.bytes = {own.get(), known}, .own = std::move(own)};
}

CodeBytes::Code CodeBytes::in_file(const Frame& frame, size_t size) const {
  constexpr size_t kClass = 4;  // index into e_ident
  constexpr std::byte kClass64{2};
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
