#include "annotate/function_code.h"

#include <elf.h>

#include <algorithm>

#include "perfdata/header/bpf_code.h"

namespace sonde::annotate {
namespace {

abi::Arch arch_of_elf(uint16_t machine) {
  switch (machine) {
    case EM_AARCH64:
      return abi::Arch::kArm64;
    case EM_386:
      return abi::Arch::kX86;
    case EM_X86_64:
      return abi::Arch::kX86_64;
    default:
      return abi::Arch::kUnknown;
  }
}

const ElfSection* section_at(const ElfFile& file, uint64_t address) {
  for (const ElfSection& section : file.sections())
    if ((section.flags & SHF_ALLOC) != 0 && section.type != SHT_NOBITS && section.addr <= address &&
        address - section.addr < section.size)
      return &section;
  return nullptr;
}

/// Bytes at an offset of the file; fewer if it ends.
Bytes bytes_at(const ElfFile& file, uint64_t offset, uint64_t size) {
  Bytes all = file.bytes();
  if (offset >= all.size()) return {};
  return all.subspan(offset, std::min<uint64_t>(size, all.size() - offset));
}

}  // namespace

abi::Arch CodeStore::arch() const {
  return abi::arch_from_machine(session_.recording().features().arch.value_or("x86_64"));
}

CodeObject& CodeStore::object_of(DsoId dso) {
  std::unique_ptr<CodeObject>& object = objects_[dso];
  if (!object) {
    const Dso& recorded = session_.machine().dsos()[dso];
    object = std::make_unique<CodeObject>();
    object->path = recorded.path;
    object->files = recorded.kind == DsoKind::kKernel ? session_.symbolizer().kernel_image(dso)
                                                      : session_.symbolizer().object_files(dso);
  }
  return *object;
}

Result<FunctionCode> CodeStore::find(const SymbolInfo& symbol) {
  if (symbol.end <= symbol.start)
    return fail(ErrorCode::kNotFound, "{} has no code: its size is not known", symbol.name);
  const Dso& dso = session_.machine().dsos()[symbol.dso];
  if (dso.is_guest && dso.is_kernel_side)
    return fail(ErrorCode::kNotFound, "{} is in a guest's kernel, whose code is not here",
                symbol.name);
  switch (dso.kind) {
    case DsoKind::kFile:
    case DsoKind::kVdso:
      return in_object(symbol);
    case DsoKind::kKernel:
      return in_kernel(symbol);
    case DsoKind::kModule:  // its file says neither where it was nor what its calls reach
      return in_kernel_memory(symbol, true);
    case DsoKind::kJitDump:
      return generated(symbol);
    case DsoKind::kBpf:
      return in_bpf_program(symbol);
    case DsoKind::kJit:
      return fail(ErrorCode::kNotFound,
                  "the code of {} was generated, and a perf map has only its name: have the "
                  "compiler write a jitdump",
                  symbol.name);
    default:
      return fail(ErrorCode::kNotFound, "{} is in {}, whose code is not in any file", symbol.name,
                  dso.short_name);
  }
}

Result<FunctionCode> CodeStore::in_object(const SymbolInfo& symbol) {
  const CodeObject& object = object_of(symbol.dso);
  const ElfFile* image = object.image();
  if (image == nullptr)
    return fail(ErrorCode::kNotFound,
                "{} is missing or has changed since the recording, so the code of {} is not known: "
                "restore the file, or name the directory that has it with --symfs",
                object.path, symbol.name);
  auto start = image->segments().addr_of(FileOffset(symbol.start));
  if (!start) return fail(ErrorCode::kCorrupt, "{}: {} is in no segment", object.path, symbol.name);
  return in_image(*image, *start, symbol.end - symbol.start, object, symbol.name);
}

Result<FunctionCode> CodeStore::in_image(const ElfFile& image, ElfAddr start, uint64_t size,
                                         const CodeObject& object,
                                         std::string_view function) const {
  const ElfSection* section = section_at(image, start.value);
  auto offset = image.segments().offset_of(start);
  if (section != nullptr) offset = FileOffset(section->offset + (start.value - section->addr));
  FunctionCode code;
  if (offset) code.bytes = bytes_at(image, offset->value, size);
  if (code.bytes.empty())
    return fail(ErrorCode::kCorrupt, "{}: the file ends before the code of {}", object.path,
                function);
  code.address = start.value;
  code.is_64_bit = image.is_64bit();
  code.arch = arch_of_elf(image.machine());
  if (section != nullptr) code.section = section->name;
  code.object = &object;
  return code;
}

Result<FunctionCode> CodeStore::in_kernel(const SymbolInfo& symbol) {
  const CodeObject& object = object_of(symbol.dso);
  const ElfFile* image = object.files.symbols   ? &*object.files.symbols
                         : object.files.runtime ? &*object.files.runtime
                                                : nullptr;
  if (image == nullptr) return in_kernel_memory(symbol, false);
  // The load address differs from boot to boot; the name is the same.
  std::optional<ElfAddr> start;
  image->for_each_symbol(SymbolSection::kSymtab, [&](const ElfSymbol& one) {
    if (!start && one.type == STT_FUNC && symbol.name == one.name) start = ElfAddr(one.value);
  });
  if (!start)
    return fail(ErrorCode::kNotFound, "{} has no function {}", object.files.symbols_path,
                symbol.name);
  return in_image(*image, *start, symbol.end - symbol.start, object, symbol.name);
}

Result<FunctionCode> CodeStore::in_kernel_memory(const SymbolInfo& symbol, bool of_module) {
  if (!kernel_memory_) kernel_memory_ = session_.symbolizer().kernel_core();
  if (!*kernel_memory_) return std::unexpected((*kernel_memory_).error());
  std::vector<std::byte>& kept = kernel_code_[symbol.start];
  if (kept.empty())
    kept = TRY((*kernel_memory_)->code(symbol.start, symbol.end - symbol.start, of_module));
  return FunctionCode{.bytes = kept,
                      .address = symbol.start,
                      .is_64_bit = true,
                      .arch = arch(),
                      .section = {},
                      .object = nullptr};
}

Result<FunctionCode> CodeStore::generated(const SymbolInfo& symbol) const {
  const JitObject* object = session_.symbolizer().generated_code(symbol.dso);
  if (object == nullptr)
    return fail(ErrorCode::kNotFound, "the jitdump that has {} is missing", symbol.name);
  for (const JitDump::Code& code : object->dump().codes()) {
    if (symbol.start < code.offset || symbol.start - code.offset >= code.size) continue;
    Bytes bytes = object->dump().bytes_of(code);
    uint64_t distance = symbol.start - code.offset;
    if (distance >= bytes.size()) break;
    return FunctionCode{
        .bytes = bytes.subspan(distance),
        .address = code.address + distance,
        .is_64_bit = object->dump().header().elf_machine != EM_386,
        .arch = arch_of_elf(static_cast<uint16_t>(object->dump().header().elf_machine)),
        .section = {},
        .object = nullptr};
  }
  return fail(ErrorCode::kCorrupt, "the jitdump does not have the code of {}", symbol.name);
}

Result<FunctionCode> CodeStore::in_bpf_program(const SymbolInfo& symbol) const {
  const Recording& recording = session_.recording();
  Bytes code = bpf_code(recording.features(), recording.byte_order(), symbol.start,
                        symbol.end - symbol.start);
  if (code.empty())
    return fail(
        ErrorCode::kNotFound,
        "the recording has no code of the BPF program {}: it is saved when record runs as root",
        symbol.name);
  return FunctionCode{.bytes = code,
                      .address = symbol.start,
                      .is_64_bit = true,
                      .arch = arch(),
                      .section = {},
                      .object = nullptr};
}

}  // namespace sonde::annotate
