#include "dwarf/cfi_sections.h"

#include <dwarf.h>
#include <elf.h>

#include <algorithm>

#include "elf/compressed_section.h"

namespace sonde {
namespace {

// arm64's PLT: System V ABI for the Arm 64-bit Architecture.
constexpr uint8_t kArm64StackPointer = 31, kArm64LinkRegister = 30;
constexpr uint32_t kInstructionBytes = 4;
constexpr uint64_t kFirstPltEntry = 32;
constexpr uint32_t kPltPush = 0xa9bf7bf0;  // stp x16, x30, [sp, #-16]!
/// The stack is as the caller left it.
constexpr uint8_t kPltInitial[] = {DW_CFA_def_cfa, kArm64StackPointer, 0};
/// After the push, which is the first instruction, or comes after one that marks a branch target.
constexpr uint8_t kPltPushedFirst[] = {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
                                       DW_CFA_offset | kArm64LinkRegister, 1};
constexpr uint8_t kPltPushedSecond[] = {DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 16,
                                        DW_CFA_offset | kArm64LinkRegister, 1};

/// Where .eh_frame has the entry of the code at an address, by the sorted table of .eh_frame_hdr
/// (Linux Standard Base, "The .eh_frame_hdr section"). Nullopt if there is none, or the table has
/// another form than linkers write.
std::optional<uint64_t> listed_entry(const ElfFile& file, const ElfSection& frames,
                                     uint64_t address) {
  const ElfSection* header = file.section(".eh_frame_hdr");
  if (header == nullptr) return std::nullopt;
  ByteCursor in(file.content(*header), file.order());
  bool is_usual = in.u8() == 1 && in.u8() == (DW_EH_PE_pcrel | DW_EH_PE_sdata4) &&
                  in.u8() == DW_EH_PE_udata4 && in.u8() == (DW_EH_PE_datarel | DW_EH_PE_sdata4);
  in.u32();  // where .eh_frame is
  uint64_t count = in.u32();
  constexpr size_t kRow = 8;  // the address of code and that of its entry, relative to the header
  if (!is_usual || !in.fits(count, kRow)) return std::nullopt;
  Bytes table = in.take(count * kRow);
  auto address_in = [&](uint64_t row, size_t column) {
    auto distance = load<uint32_t>(table.data() + row * kRow + column * 4, file.order());
    return header->addr + static_cast<uint64_t>(int64_t{static_cast<int32_t>(distance)});
  };
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (address_in(middle, 0) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return std::nullopt;
  return address_in(low - 1, 1) - frames.addr;
}

}  // namespace

CfiSections::CfiSections(const ElfFile& object, const ElfFile* debug,
                         std::optional<uint64_t> only_at)
    : only_at_(only_at) {
  read(object, ".eh_frame", CfiSection::Kind::kEhFrame);
  read(object, ".debug_frame", CfiSection::Kind::kDebugFrame);
  if (debug != nullptr) read(*debug, ".debug_frame", CfiSection::Kind::kDebugFrame);
}

void CfiSections::read(const ElfFile& file, std::string_view name, CfiSection::Kind kind) {
  const ElfSection* section = file.section(name);
  if (section == nullptr || section->type == SHT_NOBITS) return;
  Bytes bytes = file.content(*section);
  if ((section->flags & SHF_COMPRESSED) != 0) {
    auto content = expanded_content(file, *section);
    if (!content) return;
    bytes = expanded_.emplace_back(std::move(*content));
  }
  CfiSection::Source source{
      bytes,   section->addr, kind, file.order(), static_cast<uint8_t>(file.is_64bit() ? 8 : 4),
      only_at_};
  if (only_at_ && kind == CfiSection::Kind::kEhFrame) {
    source.entry_at = listed_entry(file, *section, *only_at_);
    CfiSection listed = source.entry_at ? CfiSection::read(source) : CfiSection();
    if (!listed.entries.empty()) return sections_.push_back(std::move(listed));
    source.entry_at = std::nullopt;  // the table may be wrong, or not have all
  }
  sections_.push_back(CfiSection::read(source));
}

std::vector<FunctionRange> CfiSections::functions() const {
  std::vector<FunctionRange> found;
  for (const CfiSection& section : sections_) {
    found.reserve(found.size() + section.entries.size());
    for (const CfiEntry& entry : section.entries) found.push_back({entry.start, entry.end});
  }
  // If two entries begin at one address, the section that comes first wins.
  if (!std::ranges::is_sorted(found, {}, &FunctionRange::start))
    std::ranges::stable_sort(found, {}, &FunctionRange::start);
  auto repeated = std::ranges::unique(found, {}, &FunctionRange::start);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

CfiSection arm64_plt_information(const ElfFile& object) {
  CfiSection information;
  if (object.machine() != EM_AARCH64) return information;
  CfiCommon& common = information.commons.emplace_back();
  common.code_alignment = kInstructionBytes;
  common.data_alignment = -8;
  common.return_register = kArm64LinkRegister;
  common.program = std::as_bytes(std::span(kPltInitial));
  for (const ElfSection& section : object.sections()) {
    if (section.type != SHT_PROGBITS || (section.name != ".plt" && section.name != ".iplt"))
      continue;
    uint64_t start = section.addr, end = section.addr + section.size;
    if (end < start) continue;
    Bytes code = object.content(section);
    auto is_push = [&](size_t number) {
      return code.size() >= kFirstPltEntry &&
             load<uint32_t>(&code[number * kInstructionBytes], ByteOrder::kLittle) == kPltPush;
    };
    if (is_push(0) || is_push(1)) {
      std::span program = is_push(0) ? std::span(kPltPushedFirst) : std::span(kPltPushedSecond);
      information.entries.push_back({start, start + kFirstPltEntry, 0, std::as_bytes(program)});
      start += kFirstPltEntry;
    }
    if (start < end) information.entries.push_back({start, end, 0, {}});
  }
  return information;
}

}  // namespace sonde
