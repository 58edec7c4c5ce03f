#include "elf/plt.h"

#include <elf.h>

#include <algorithm>
#include <optional>

#include "elf/relocations.h"

namespace sonde {
namespace {

/// What an entry calls.
struct Callee {
  const char* name;
  uint64_t resolver;
};

/// How many relocations at the beginning of .rel(a).dyn only add the load address, as the dynamic
/// linker is told (DT_RELACOUNT in <elf.h>).
uint64_t leading_relative(const ElfFile& file) {
  const ElfSection* section = file.section(".dynamic");
  if (section == nullptr) return 0;
  Bytes content = file.content(*section);
  size_t word = file.is_64bit() ? 8 : 4;
  auto word_at = [&](size_t at) {
    return word == 8 ? load<uint64_t>(&content[at], file.order())
                     : uint64_t{load<uint32_t>(&content[at], file.order())};
  };
  for (size_t at = 0; at + 2 * word <= content.size(); at += 2 * word)
    if (uint64_t tag = word_at(at); tag == DT_RELACOUNT || tag == DT_RELCOUNT)
      return word_at(at + word);
  return 0;
}

/// The function whose address goes into each slot of the global offset table.
class Slots {
 public:
  explicit Slots(const ElfFile& file)
      : is_arm64_(file.machine() == EM_AARCH64), symbols_(file.symbols(SymbolSection::kDynsym)) {
    for (const ElfSection& section : file.sections()) {
      bool of_plt = section.name == ".rela.plt" || section.name == ".rel.plt";
      if (!of_plt && section.name != ".rela.dyn" && section.name != ".rel.dyn") continue;
      if (of_plt && in_plt_order_.empty()) in_plt_order_ = file.relocations(section);
      uint64_t first = of_plt ? 0 : leading_relative(file);
      for_each_relocation(file, section, first, [this](const ElfRelocation& relocation) {
        if (relocation.symbol != 0 || chooses_at_run_time(relocation))
          by_slot_.push_back(relocation);
      });
    }
    std::ranges::sort(by_slot_, {}, &ElfRelocation::offset);
  }

  [[nodiscard]] std::optional<Callee> of_slot(uint64_t slot) const {
    auto found = std::ranges::lower_bound(by_slot_, slot, {}, &ElfRelocation::offset);
    if (found == by_slot_.end() || found->offset != slot) return std::nullopt;
    return callee(*found);
  }
  [[nodiscard]] std::optional<Callee> of_index(uint64_t index) const {
    if (index >= in_plt_order_.size()) return std::nullopt;
    return callee(in_plt_order_[static_cast<size_t>(index)]);
  }
  [[nodiscard]] size_t count() const { return in_plt_order_.size(); }

 private:
  [[nodiscard]] std::optional<Callee> callee(const ElfRelocation& relocation) const {
    if (relocation.symbol == 0) {
      // Functions chosen at run time (ifuncs) have no name here; perf calls their entries "@plt".
      if (chooses_at_run_time(relocation)) return Callee{"", relocation.addend};
      return std::nullopt;
    }
    if (relocation.symbol >= symbols_.size()) return std::nullopt;
    const char* text = symbols_[relocation.symbol].name;
    if (*text == '\0') return std::nullopt;
    return Callee{text, 0};
  }

  [[nodiscard]] bool chooses_at_run_time(const ElfRelocation& relocation) const {
    return relocation.type == (is_arm64_ ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE);
  }

  bool is_arm64_;
  std::vector<ElfSymbol> symbols_;
  std::vector<ElfRelocation> in_plt_order_;
  std::vector<ElfRelocation> by_slot_;
};

/// x86-64: an entry jumps through its slot (jmp *disp(%rip)); with branch tracking, the lazy half
/// of an entry only pushes its index for the resolver.
std::optional<Callee> callee_of_x86_entry(Bytes entry, uint64_t addr, const Slots& slots) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(entry[i]); };
  for (size_t i = 0; i + 6 <= entry.size() && i <= 5; ++i) {
    if (byte(i) != 0xff || byte(i + 1) != 0x25) continue;
    auto distance =
        static_cast<uint64_t>(int64_t{load<int32_t>(&entry[i + 2], ByteOrder::kLittle)});
    return slots.of_slot(addr + i + 6 + distance);
  }
  size_t push_at = entry.size() >= 9 && byte(0) == 0xf3 && byte(1) == 0x0f ? 4 : 0;  // endbr64
  if (push_at + 5 <= entry.size() && byte(push_at) == 0x68)
    return slots.of_index(load<uint32_t>(&entry[push_at + 1], ByteOrder::kLittle));
  return std::nullopt;
}

void add_x86_64(const ElfFile& file, const Slots& slots, std::vector<PltEntry>& out) {
  for (const char* section_name : {".plt", ".plt.sec", ".plt.bnd", ".plt.got"}) {
    const ElfSection* section = file.section(section_name);
    if (section == nullptr) continue;
    Bytes code = file.content(*section);
    size_t size = section->entry_size == 8 ? 8 : 16;
    for (size_t at = 0; at + size <= code.size(); at += size) {
      uint64_t addr = section->addr + at;
      if (auto callee = callee_of_x86_entry(code.subspan(at, size), addr, slots))
        out.push_back({ElfAddr(addr), size, callee->name, callee->resolver});
    }
  }
}

/// arm64: adrp x16, PAGE; ldr x17, [x16, #OFFSET] identify the slot. A preceding bti instruction
/// belongs to the entry.
void add_arm64(const ElfFile& file, const Slots& slots, std::vector<PltEntry>& out) {
  const ElfSection* section = file.section(".plt");
  if (section == nullptr) return;
  Bytes code = file.content(*section);
  auto instruction = [&](size_t at) { return load<uint32_t>(&code[at], ByteOrder::kLittle); };
  uint64_t entry_size = section->entry_size == 24 ? 24 : 16;
  for (size_t at = 0; at + 8 <= code.size(); at += 4) {
    uint32_t adrp = instruction(at);
    uint32_t ldr = instruction(at + 4);
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    uint64_t pages = ((adrp >> 5) & 0x7ffff) << 2 | ((adrp >> 29) & 3);
    if ((pages & (1U << 20)) != 0) pages |= ~uint64_t{(1U << 21) - 1};
    uint64_t page = ((section->addr + at) & ~uint64_t{4095}) + (pages << 12);
    std::optional<Callee> callee = slots.of_slot(page + ((ldr >> 10) & 0xfff) * 8);
    if (!callee) continue;
    constexpr uint32_t kBtiC = 0xd503245f;
    size_t start = at >= 4 && instruction(at - 4) == kBtiC ? at - 4 : at;
    out.push_back({ElfAddr(section->addr + start), entry_size, callee->name, callee->resolver});
  }
}

/// Elsewhere: a header, then entries of one size in relocation order.
void add_in_order(const ElfFile& file, const Slots& slots, std::vector<PltEntry>& out) {
  const ElfSection* section = file.section(".plt");
  if (section == nullptr) return;
  uint64_t entry_size = section->entry_size;
  uint64_t header_size = entry_size;
  switch (file.machine()) {
    case EM_ARM:
      header_size = 20;
      entry_size = 12;
      break;
    case EM_SPARC:
      header_size = 48;
      entry_size = 12;
      break;
    case EM_SPARCV9:
      header_size = 128;
      entry_size = 32;
      break;
    default:
      break;
  }
  if (entry_size == 0 || header_size > section->size) return;
  uint64_t count = std::min<uint64_t>(slots.count(), (section->size - header_size) / entry_size);
  for (uint64_t i = 0; i < count; ++i)
    if (auto callee = slots.of_index(i))
      out.push_back({ElfAddr(section->addr + header_size + i * entry_size), entry_size,
                     callee->name, callee->resolver});
}

}  // namespace

std::vector<PltEntry> plt_entries(const ElfFile& file) {
  std::vector<PltEntry> entries;
  if (!file.has_symbols(SymbolSection::kDynsym)) return entries;
  Slots slots(file);
  if (file.machine() == EM_X86_64)
    add_x86_64(file, slots, entries);
  else if (file.machine() == EM_AARCH64)
    add_arm64(file, slots, entries);
  else
    add_in_order(file, slots, entries);
  std::ranges::sort(entries, {}, &PltEntry::start);
  return entries;
}

}  // namespace sonde
