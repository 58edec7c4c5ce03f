#include "elf/relocatable.h"

#include <elf.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr uint64_t kFirstAddress = 0x100000;
constexpr uint64_t kPageSize = 0x1000;
/// Larger than any section; nonsensical sizes in a file must not overflow.
constexpr uint64_t kMaxLoadedSize = uint64_t{1} << 40;

/// What a relocation writes.
enum class Patch : uint8_t {
  kNone,
  kWord64,  // the value
  kWord32,
  kDistance64,  // the value - the place
  kDistance32,
  kBranch,      // arm64: bl, b: distance in words, bits 0 to 25
  kPage,        // arm64: adrp: distance in pages, bits 5 to 23 and 29, 30
  kPageOffset,  // arm64: add, ldr, str: the lowest 12 bits in units of the access, bits 10 to 21
};
struct Meaning {
  Patch patch = Patch::kNone;
  uint8_t unit = 0;  // kPageOffset: log2 of the access size in bytes
};

// System V ABI, AMD64 supplement, table 4.10; Intel386 supplement; ELF for the Arm 64-bit
// Architecture, sections 5.7.5 to 5.7.9.
Meaning meaning_of(uint16_t machine, uint32_t type) {
  if (machine == EM_X86_64) {
    switch (type) {
      case R_X86_64_64:
        return {Patch::kWord64};
      case R_X86_64_32:
      case R_X86_64_32S:
        return {Patch::kWord32};
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return {Patch::kDistance32};
      case R_X86_64_PC64:
        return {Patch::kDistance64};
      default:
        return {};
    }
  }
  if (machine == EM_386) {
    if (type == R_386_32) return {Patch::kWord32};
    return {type == R_386_PC32 || type == R_386_PLT32 ? Patch::kDistance32 : Patch::kNone};
  }
  if (machine != EM_AARCH64) return {};
  switch (type) {
    case R_AARCH64_ABS64:
      return {Patch::kWord64};
    case R_AARCH64_ABS32:
      return {Patch::kWord32};
    case R_AARCH64_PREL32:
      return {Patch::kDistance32};
    case R_AARCH64_PREL64:
      return {Patch::kDistance64};
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return {Patch::kBranch};
    case R_AARCH64_ADR_PREL_PG_HI21:
      return {Patch::kPage};
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return {Patch::kPageOffset, 0};
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return {Patch::kPageOffset, 1};
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return {Patch::kPageOffset, 2};
    case R_AARCH64_LDST64_ABS_LO12_NC:
      return {Patch::kPageOffset, 3};
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return {Patch::kPageOffset, 4};
    default:
      return {};
  }
}

template <typename T>
void write_at(std::byte* at, ByteOrder order, uint64_t number) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    size_t byte = order == ByteOrder::kLittle ? i : sizeof(T) - 1 - i;
    at[i] = static_cast<std::byte>(number >> 8 * byte);
  }
}

/// Puts `bits` into the bits of an instruction that `mask` selects.
void write_bits(std::byte* at, uint32_t mask, uint64_t bits) {
  auto word = load<uint32_t>(at, ByteOrder::kLittle);
  word = (word & ~mask) | (static_cast<uint32_t>(bits) & mask);
  write_at<uint32_t>(at, ByteOrder::kLittle, word);
}

size_t size_of(Patch patch) {
  return patch == Patch::kWord64 || patch == Patch::kDistance64 ? 8 : 4;
}

void put(std::byte* at, ByteOrder order, Meaning meaning, uint64_t value, uint64_t place) {
  switch (meaning.patch) {
    case Patch::kWord64:
      return write_at<uint64_t>(at, order, value);
    case Patch::kWord32:
      return write_at<uint32_t>(at, order, value);
    case Patch::kDistance64:
      return write_at<uint64_t>(at, order, value - place);
    case Patch::kDistance32:
      return write_at<uint32_t>(at, order, value - place);
    case Patch::kBranch:
      return write_bits(at, 0x3ffffff, (value - place) >> 2);
    case Patch::kPage: {
      uint64_t pages = (value / kPageSize) - (place / kPageSize);
      return write_bits(at, 0x60ffffe0, (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
    }
    case Patch::kPageOffset:
      return write_bits(at, 0x3ffc00, (value % kPageSize) >> meaning.unit << 10);
    case Patch::kNone:
      return;
  }
}

}  // namespace

RelocatableFile::RelocatableFile(const ElfFile& file) : file_(file) {
  uint64_t next = kFirstAddress;
  for (const ElfSection& section : file.sections()) {
    bool is_loaded = (section.flags & SHF_ALLOC) != 0;
    sections_.push_back(is_loaded ? next : 0);
    if (is_loaded) next += (std::min(section.size, kMaxLoadedSize) / kPageSize + 2) * kPageSize;
  }
  for (const ElfSymbol& symbol : file.symbols(SymbolSection::kSymtab))
    symbols_.push_back(address_of(symbol));
  find_lists();
}

/// A section has one list; a file with more is nonsense. Overlapping lists are nonsense as well,
/// and could be too many to read: their total size is limited to that of the file.
void RelocatableFile::find_lists() {
  lists_.resize(sections_.size());
  size_t left = file_.bytes().size();
  for (const ElfSection& list : file_.sections()) {
    if ((list.type != SHT_RELA && list.type != SHT_REL) || list.info >= lists_.size()) continue;
    size_t size = file_.content(list).size();
    if (lists_[list.info] != nullptr || size > left) continue;
    lists_[list.info] = &list;
    left -= size;
  }
}

uint64_t RelocatableFile::address_of(const ElfSection& section) const {
  return section.index < sections_.size() ? sections_[section.index] : 0;
}

uint64_t RelocatableFile::address_of(const ElfSymbol& symbol) const {
  if (symbol.section == SHN_ABS) return symbol.value;
  if (symbol.section == SHN_UNDEF || symbol.section >= sections_.size()) return kUndefined;
  return sections_[symbol.section] + symbol.value;
}

void RelocatableFile::apply(const ElfSection& section, std::vector<std::byte>& bytes) const {
  const ElfSection* list = section.index < lists_.size() ? lists_[section.index] : nullptr;
  if (list == nullptr) return;
  bool has_addends = list->type == SHT_RELA;
  for (const ElfRelocation& one : file_.relocations(*list)) {
    Meaning meaning = meaning_of(file_.machine(), one.type);
    size_t size = size_of(meaning.patch);
    if (meaning.patch == Patch::kNone || bytes.size() < size || one.offset > bytes.size() - size)
      continue;
    std::byte* at = bytes.data() + one.offset;
    uint64_t addend = has_addends ? one.addend
                      : size == 8 ? load<uint64_t>(at, file_.order())
                                  : load<uint32_t>(at, file_.order());
    uint64_t target = one.symbol < symbols_.size() ? symbols_[one.symbol] : kUndefined;
    put(at, file_.order(), meaning, target + addend, address_of(section) + one.offset);
  }
}

}  // namespace sonde
