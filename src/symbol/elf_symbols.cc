#include "symbol/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <string>

#include "dwarf/cfi_sections.h"
#include "elf/plt.h"

namespace sonde {
namespace {

/// "$x", "$d.7": markers by ARM and RISC-V assemblers between code and data.
bool is_mapping_symbol(uint16_t machine, const char* name) {
  if (name[0] != '$') return false;
  bool kind = machine == EM_ARM || machine == EM_AARCH64
                  ? name[1] == 'a' || name[1] == 'd' || name[1] == 't' || name[1] == 'x'
                  : machine == EM_RISCV && (name[1] == 'x' || name[1] == 'd');
  return kind && (machine == EM_RISCV || name[2] == '\0' || name[2] == '.');
}

bool is_defined(const ElfSymbol& symbol) {
  return *symbol.name != '\0' && symbol.section != SHN_UNDEF && symbol.section != SHN_ABS;
}

bool is_code_or_data(const ElfSymbol& symbol) {
  return symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC || symbol.type == STT_OBJECT;
}

/// Labels in assembly code, in sections whose name says text or data.
bool is_label(const ElfSymbol& symbol, const ElfSection& section) {
  if (symbol.type != STT_NOTYPE) return false;
  if (symbol.visibility == STV_HIDDEN || symbol.visibility == STV_INTERNAL) return false;
  return section.name.find("text") != std::string_view::npos ||
         section.name.find("data") != std::string_view::npos;
}

/// Function symbols of 64-bit PowerPC (ELFv1) point to descriptors in .opd, whose first word is the
/// code address.
class Descriptors {
 public:
  explicit Descriptors(const ElfFile& file) : section_(file.section(".opd")), order_(file.order()) {
    if (section_ != nullptr) content_ = file.content(*section_);
  }
  void resolve(ElfSymbol& symbol) const {
    if (section_ == nullptr || symbol.section != section_->index) return;
    uint64_t at = symbol.value - section_->addr;
    if (at < content_.size() && content_.size() - at >= 8)
      symbol.value = load<uint64_t>(content_.data() + at, order_);
  }

 private:
  const ElfSection* section_;
  Bytes content_;
  ByteOrder order_;
};

void add_symbols(SymbolTableBuilder& builder, const ElfFile& file, SymbolSection which,
                 const Descriptors& descriptors, bool skip_known) {
  uint16_t machine = file.machine();
  bool relocatable = file.type() == ET_REL;
  std::vector<Symbol> found;
  file.for_each_symbol(which, [&](ElfSymbol symbol) {
    if (!is_defined(symbol)) return;
    const ElfSection* section = file.section_at(symbol.section);
    if (section == nullptr || (section->flags & SHF_ALLOC) == 0) return;
    if (!is_code_or_data(symbol) && !is_label(symbol, *section)) return;
    if (is_mapping_symbol(machine, symbol.name)) return;
    descriptors.resolve(symbol);
    if (machine == EM_ARM && symbol.type == STT_FUNC) symbol.value &= ~uint64_t{1};  // Thumb
    uint64_t start = symbol.value + (relocatable ? section->offset : 0);
    if (skip_known && builder.has_settled(start, symbol.name)) return;
    uint64_t end = start + symbol.size < start ? UINT64_MAX : start + symbol.size;
    found.push_back({.start = start,
                     .end = end,
                     .name_chars = symbol.name,
                     .type = symbol.type,
                     .binding = symbol.binding});
  });
  if (found.empty()) return;
  for (const Symbol& symbol : found) builder.add(symbol);
  builder.finalize(FixupEnd::kElf);
}

void add_plt(SymbolTableBuilder& builder, const ElfFile& file) {
  std::vector<PltEntry> entries = plt_entries(file);
  std::string& names = builder.keep(std::string());
  for (const PltEntry& entry : entries) names.append(entry.name).append("@plt").push_back('\0');
  const char* name = names.c_str();
  for (const PltEntry& entry : entries) {
    builder.add({.start = entry.start.value,
                 .end = entry.start.value + entry.size,
                 .name_chars = name,
                 .type = STT_FUNC,
                 .binding = STB_GLOBAL});
    name += std::string_view(name).size() + 1;
  }
}

void add_frame_functions(SymbolTableBuilder& builder, const ElfFile& runtime,
                         const ElfFile& symbols) {
  if (runtime.type() == ET_REL) return;  // its addresses are not final
  const ElfFile* debug = &symbols == &runtime ? nullptr : &symbols;
  std::vector<FunctionRange> functions = CfiSections(runtime, debug).functions();
  // The stubs of a PLT are not functions: one entry describes them all.
  for (const ElfSection& section : runtime.sections())
    if (section.name.starts_with(".plt"))
      std::erase_if(functions, [&section](const FunctionRange& function) {
        return function.start >= section.addr && function.start - section.addr < section.size;
      });
  builder.fill_gaps(functions);
}

/// Whether some symbol's name may contain the requested part.
bool may_name(const ElfFile& symbols, const ElfFile& runtime, bool full,
              const ElfSymbolOptions& options) {
  if (full)
    return symbols.may_name(SymbolSection::kSymtab, options.name_part) ||
           symbols.may_name(SymbolSection::kDynsym, options.name_part);
  return runtime.may_name(SymbolSection::kDynsym, options.name_part) ||
         (options.mini_debug_info && runtime.section(".gnu_debugdata") != nullptr);
}

}  // namespace

SymbolTable load_elf_symbols(ElfFile given_symbols, std::optional<ElfFile> given_runtime,
                             const ElfSymbolOptions& options) {
  SymbolTableBuilder builder;
  const ElfFile& symbols = builder.keep(std::move(given_symbols));
  const ElfFile* runtime = given_runtime ? &builder.keep(std::move(*given_runtime)) : &symbols;
  Descriptors descriptors(*runtime);
  bool full = symbols.has_symbols(SymbolSection::kSymtab);
  if (!options.name_part.empty() && !may_name(symbols, *runtime, full, options)) return {};
  if (full) {
    builder.reserve(symbols.symbol_count(SymbolSection::kSymtab));
    add_symbols(builder, symbols, SymbolSection::kSymtab, descriptors, false);
  }
  // A separate debug file's .symtab includes the object's own .dynsym.
  const ElfFile& dynamic = full ? symbols : *runtime;
  add_symbols(builder, dynamic, SymbolSection::kDynsym, descriptors, true);
  if (!full && options.mini_debug_info) {
    if (auto mini = runtime->mini_debug_info()) {
      const ElfFile& kept = builder.keep(std::move(*mini));
      add_symbols(builder, kept, SymbolSection::kSymtab, descriptors, true);
    }
  }
  if (options.plt) add_plt(builder, *runtime);
  if (options.frame_functions) add_frame_functions(builder, *runtime, symbols);
  return std::move(builder).build();
}

}  // namespace sonde
