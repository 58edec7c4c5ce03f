#include "probe/source/code_symbols.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "elf/relocatable.h"

namespace sonde {
namespace {

bool is_visible(const ElfSymbol& symbol) {
  if (symbol.section == SHN_UNDEF || symbol.section == SHN_ABS || *symbol.name == '\0')
    return false;
  switch (symbol.type) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
    case STT_OBJECT:
    case STT_NOTYPE:
      return true;
    default:
      return false;
  }
}

std::string_view without_version(std::string_view name) {
  return name.substr(0, name.find('@'));
}

}  // namespace

template <typename Wanted>
CodeSymbols CodeSymbols::read(const ElfFile& file, const Wanted& is_wanted) {
  CodeSymbols found;
  std::optional<RelocatableFile> relocatable;
  if (file.type() == ET_REL) relocatable.emplace(file);
  const ElfSection* text_section = file.section(".text");
  uint32_t text = text_section == nullptr ? 0 : text_section->index;
  found.symbols_.reserve(file.symbol_count(SymbolSection::kSymtab) +
                         file.symbol_count(SymbolSection::kDynsym));
  for (SymbolSection table : {SymbolSection::kSymtab, SymbolSection::kDynsym})
    file.for_each_symbol(table, [&](const ElfSymbol& symbol) {
      // Before its name is touched, which may have to be read from the disk.
      if (!relocatable && !is_wanted(symbol.value, symbol.size)) return;
      if (!is_visible(symbol)) return;
      bool is_indirect = symbol.type == STT_GNU_IFUNC;
      bool is_function = symbol.type == STT_FUNC || is_indirect;
      if (symbol.type == STT_NOTYPE) {
        // Functions in assembly often have no type.
        const ElfSection* section = file.section_at(symbol.section);
        is_function = section != nullptr && (section->flags & SHF_EXECINSTR) != 0;
        // Compilers label their own tables, too.
        if (!is_function && (section == nullptr || !section->name.contains("data"))) return;
      }
      uint64_t address = relocatable ? relocatable->address_of(symbol) : symbol.value;
      if (relocatable && !is_wanted(address, symbol.size)) return;
      found.symbols_.push_back({symbol.name, address, symbol.size, is_function, is_indirect,
                                symbol.binding != STB_LOCAL, symbol.section == text,
                                table == SymbolSection::kDynsym});
    });
  found.is_sorted_ = false;
  return found;
}

CodeSymbols CodeSymbols::read(const ElfFile& file) {
  return read(file, [](uint64_t, uint64_t) { return true; });
}

CodeSymbols CodeSymbols::read_around(const ElfFile& file, uint64_t address) {
  return read(file, [address](uint64_t start, uint64_t size) {
    return start <= address && (size == 0 || address - start < size);
  });
}

CodeSymbols CodeSymbols::parse_kallsyms(std::string text, std::string_view module) {
  CodeSymbols found;
  found.text_ = std::move(text);
  // A moved short string would move its characters; a list of symbols is never short.
  std::string_view left = found.text_;
  while (!left.empty()) {
    std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    CodeSymbol symbol;
    auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), symbol.address, 16);
    line.remove_prefix(static_cast<size_t>(end - line.data()));
    if (error != std::errc() || line.size() < 4) continue;
    char type = line[1];
    line.remove_prefix(3);
    size_t tab = line.find('\t');
    std::string_view owner;
    if (tab != std::string_view::npos && line.size() > tab + 3)
      owner = line.substr(tab + 2, line.size() - tab - 3);
    if (owner != module) continue;
    symbol.name = line.substr(0, tab);
    symbol.is_global = is_ascii_upper(type);
    char kind = to_ascii_lower(type);
    symbol.is_function = kind == 't' || kind == 'w';
    found.symbols_.push_back(symbol);
  }
  found.is_sorted_ = false;
  return found;
}

void CodeSymbols::add(const CodeSymbols& more) {
  symbols_.insert(symbols_.end(), more.symbols_.begin(), more.symbols_.end());
  is_sorted_ = false;
}

const std::vector<CodeSymbol>& CodeSymbols::sorted() const {
  if (std::exchange(is_sorted_, true)) return symbols_;
  // Sorting small keys and then moving each symbol once is faster than sorting the symbols.
  std::vector<std::pair<uint64_t, uint32_t>> keys;
  keys.reserve(symbols_.size());
  for (const CodeSymbol& symbol : symbols_)
    keys.emplace_back(symbol.address, static_cast<uint32_t>(keys.size()));
  std::ranges::sort(keys);
  std::vector<CodeSymbol> sorted;
  sorted.reserve(symbols_.size());
  for (const auto& key : keys) sorted.push_back(symbols_[key.second]);
  symbols_ = std::move(sorted);
  return symbols_;
}

std::vector<const CodeSymbol*> CodeSymbols::functions(std::string_view pattern) const {
  std::vector<const CodeSymbol*> found;
  bool is_glob = has_glob(pattern);
  for (const CodeSymbol& symbol : sorted()) {
    if (!symbol.is_function) continue;
    bool matches = is_glob ? glob_match(pattern, symbol.name)
                           : symbol.name == pattern || without_version(symbol.name) == pattern;
    bool is_new = found.empty() || found.back()->address != symbol.address;
    if (matches && is_new) found.push_back(&symbol);
  }
  return found;
}

uint64_t CodeSymbols::end_of(const CodeSymbol& symbol) const {
  if (symbol.size != 0) return symbol.address + symbol.size;
  auto next = std::ranges::upper_bound(sorted(), symbol.address, {}, &CodeSymbol::address);
  return next == symbols_.end() ? UINT64_MAX : next->address;
}

/// One walk, since most commands ask for one address: sorting takes longer.
const CodeSymbol* CodeSymbols::function_at(uint64_t address) const {
  const CodeSymbol* best = nullptr;
  auto is_better = [&](const CodeSymbol& symbol) {
    if (best == nullptr || symbol.address != best->address)
      return best == nullptr || symbol.address > best->address;
    if (symbol.is_global != best->is_global) return symbol.is_global;
    return best->name.starts_with('_') && !symbol.name.starts_with('_');
  };
  for (const CodeSymbol& symbol : symbols_) {
    if (!symbol.is_function || symbol.address > address) continue;
    if (symbol.size != 0 && address - symbol.address >= symbol.size) continue;
    if (is_better(symbol)) best = &symbol;
  }
  return best;
}

const CodeSymbol* CodeSymbols::at(uint64_t address) const {
  auto [first, last] = std::ranges::equal_range(sorted(), address, {}, &CodeSymbol::address);
  const CodeSymbol* best = nullptr;
  for (auto symbol = first; symbol != last; ++symbol)
    if (best == nullptr || (symbol->is_global && !best->is_global)) best = &*symbol;
  return best;
}

bool CodeSymbols::is_ambiguous(std::string_view name) const {
  std::set<uint64_t> addresses;
  for (const CodeSymbol& symbol : symbols_)
    if (symbol.name == name) addresses.insert(symbol.address);
  return addresses.size() > 1;
}

uint64_t CodeSymbols::address_of(std::string_view name) const {
  auto found = std::ranges::find(symbols_, name, &CodeSymbol::name);
  return found == symbols_.end() ? 0 : found->address;
}

}  // namespace sonde
