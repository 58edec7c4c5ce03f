#include "datatype/object_data.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>

namespace sonde::datatype {
namespace {

/// The distance from the start of the thread-local storage block to the thread pointer, which is at
/// its end on x86 (ELF Handling For Thread-Local Storage, section 3.4.6, variant II): the size of
/// PT_TLS, rounded up to its alignment.
uint64_t thread_block_of(const ElfFile& image) {
  if (image.machine() != EM_X86_64 || !image.is_64bit()) return 0;
  ByteCursor header(image.bytes(), image.order());
  header.skip(offsetof(Elf64_Ehdr, e_phoff));
  uint64_t table = header.u64();
  header.skip(offsetof(Elf64_Ehdr, e_phnum) - offsetof(Elf64_Ehdr, e_shoff));
  uint16_t count = header.u16();
  ByteCursor in(image.bytes(), image.order());
  in.skip(table);
  for (uint16_t i = 0; i < count && in.ok(); ++i) {
    ByteCursor segment(in.take(sizeof(Elf64_Phdr)), image.order());
    uint32_t type = segment.u32();
    segment.skip(offsetof(Elf64_Phdr, p_memsz) - sizeof type);
    uint64_t size = segment.u64(), alignment = segment.u64();
    if (type != PT_TLS || !segment.ok()) continue;
    if (alignment == 0) alignment = 1;
    bool makes_sense = (alignment & (alignment - 1)) == 0 && size <= UINT32_MAX;
    return makes_sense ? (size + alignment - 1) & ~(alignment - 1) : 0;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<ObjectData>> ObjectData::open(Result<DebugInfo> info, const ElfFile* image) {
  DebugInfo found = TRY(std::move(info));
  auto index = TRY(DataIndex::open(std::move(found.file), found.places));
  return std::unique_ptr<ObjectData>(new ObjectData(std::move(index), image));
}

ObjectData::ObjectData(std::unique_ptr<DataIndex> index, const ElfFile* image)
    : index_(std::move(index)) {
  if (image == nullptr) return;
  if (image->type() == ET_REL) {
    unlinked_.emplace(*image);
    return;
  }
  frames_ = CfiTable::build(*image, nullptr);
  thread_block_ = thread_block_of(*image);
  read_links(*image);
}

void ObjectData::read_links(const ElfFile& image) {
  bool is_x86 = image.machine() == EM_X86_64, is_arm64 = image.machine() == EM_AARCH64;
  if (!is_x86 && !is_arm64) return;
  uint32_t by_symbol = is_x86 ? uint32_t{R_X86_64_GLOB_DAT} : uint32_t{R_AARCH64_GLOB_DAT};
  uint32_t relative = is_x86 ? uint32_t{R_X86_64_RELATIVE} : uint32_t{R_AARCH64_RELATIVE};
  uint32_t of_thread = is_x86 ? uint32_t{R_X86_64_TPOFF64} : uint32_t{R_AARCH64_TLS_TPREL};
  const ElfSection* table = image.section(".got");
  const ElfSection* relocations = image.section(".rela.dyn");
  if (table == nullptr || relocations == nullptr) return;
  std::vector<ElfSymbol> symbols = image.symbols(SymbolSection::kDynsym);
  for (const ElfRelocation& one : image.relocations(*relocations)) {
    if (one.offset - table->addr >= table->size) continue;
    bool has_symbol = one.symbol != 0 && one.symbol < symbols.size();
    uint64_t value = one.addend + (has_symbol ? symbols[one.symbol].value : 0);
    // Symbols defined in other objects have no value here.
    if (has_symbol && symbols[one.symbol].section == SHN_UNDEF) continue;
    if (one.type == relative || (one.type == by_symbol && has_symbol))
      links_[one.offset] = {value, false};
    else if (one.type == of_thread)
      links_[one.offset] = {value, true};
  }
}

std::optional<std::pair<uint8_t, int64_t>> ObjectData::frame_at(uint64_t address) const {
  const UnwindRule* rule = frames_.find(ElfAddr(address));
  if (rule == nullptr || rule->cfa_from != CfaFrom::kRegister) return std::nullopt;
  return std::pair(rule->cfa_register, int64_t{rule->cfa_value});
}

DataAccess ObjectData::access_at(Bytes code, uint64_t code_address, abi::Arch arch, bool is_64_bit,
                                 uint64_t address) {
  const std::vector<TypedInstruction>& found = follow(code, code_address, arch, is_64_bit);
  auto at = std::ranges::lower_bound(found, address, {}, &TypedInstruction::address);
  if (at == found.end() || at->address != address)
    return {.kind = found.empty() ? AccessKind::kNoVariable : AccessKind::kNoCode, .type = {}};
  return at->access;
}

const std::vector<TypedInstruction>& ObjectData::follow(Bytes code, uint64_t code_address,
                                                        abi::Arch arch, bool is_64_bit) {
  auto [function, is_new] = functions_.try_emplace(code_address);
  if (!is_new) return function->second;
  if (!decoder_) {
    auto made = disasm::OperationDecoder::make(arch, is_64_bit);
    if (!made) return function->second;
    decoder_ = std::move(*made);
  }
  FlowInput input;
  input.code = code;
  input.address = code_address;
  input.variables = index_->function_at(code_address);
  input.index = index_.get();
  input.thread_block = thread_block_;
  input.frame_at = [this](uint64_t address) { return frame_at(address); };
  input.linked_at = [this](uint64_t slot) -> std::optional<LinkedSlot> {
    auto found = links_.find(slot);
    return found == links_.end() ? std::nullopt : std::optional(found->second);
  };
  function->second = follow_types(input, *decoder_);
  return function->second;
}

}  // namespace sonde::datatype
