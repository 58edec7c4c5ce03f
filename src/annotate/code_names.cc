#include "annotate/code_names.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "elf/plt.h"
#include "symbol/demangle.h"

namespace sonde::annotate {
namespace {

struct Candidate {
  const char* name = nullptr;  // null: none
  uint64_t value = 0;
  uint64_t size = 0;
  uint8_t type = 0;
  uint8_t locality = 2;  // 0: global, 1: weak, 2: local
  bool is_plt = false;
  uint64_t resolver = 0;  // of a PLT entry without a name
};

bool is_function(const Candidate& c) {
  return c.type == STT_FUNC;
}

/// Which of two symbols at one address is shown.
bool goes_before(const Candidate& a, const Candidate& b) {
  auto rank = [](const Candidate& c) {
    return std::tuple(!is_function(c), c.type != STT_OBJECT, c.locality, ~c.size, c.name[0] == '.');
  };
  auto left = rank(a), right = rank(b);
  return left != right ? left < right : std::string_view(a.name) < std::string_view(b.name);
}

bool is_better(const Candidate& a, const Candidate& b) {
  if (b.name == nullptr) return true;
  return a.value != b.value ? a.value > b.value : goes_before(a, b);
}

uint8_t locality_of(uint8_t binding) {
  if (binding == STB_WEAK) return 1;
  return binding == STB_LOCAL ? 2 : 0;
}

bool counts(const ElfSymbol& symbol) {
  return symbol.name[0] != '\0' && symbol.section != SHN_UNDEF && symbol.section != SHN_COMMON &&
         symbol.type != STT_SECTION && symbol.type != STT_FILE;
}

/// Visits every symbol that can name an address: those of .symtab, of .dynsym if there is no
/// .symtab, and PLT entries, which have no symbols. Names live as long as the files.
template <typename Visit>
void for_each_candidate(const CodeObject& object, std::vector<PltEntry>& plt, const Visit& visit) {
  const ElfFile* symbols = object.files.symbols ? &*object.files.symbols : nullptr;
  const ElfFile* image = object.files.runtime ? &*object.files.runtime : symbols;
  auto take = [&](const ElfSymbol& symbol) {
    if (!counts(symbol)) return;
    visit(Candidate{.name = symbol.name,
                    .value = symbol.value,
                    .size = symbol.size,
                    .type = symbol.type,
                    .locality = locality_of(symbol.binding)});
  };
  if (symbols != nullptr && symbols->has_symbols(SymbolSection::kSymtab))
    symbols->for_each_symbol(SymbolSection::kSymtab, take);
  else if (image != nullptr)
    image->for_each_symbol(SymbolSection::kDynsym, take);
  if (image == nullptr) return;
  plt = plt_entries(*image);
  for (const PltEntry& entry : plt)
    visit(Candidate{.name = entry.name,
                    .value = entry.start.value,
                    .size = 0,
                    .type = STT_FUNC,
                    .locality = 0,
                    .is_plt = true,
                    .resolver = entry.resolver});
}

std::string shown(const Candidate& candidate, bool demangles) {
  std::string name;
  if (demangles) name = demangle(candidate.name, true);
  if (name.empty()) name = candidate.name;
  // As objdump names a function that is chosen at run time.
  if (candidate.is_plt && name.empty()) name = fmt::format("*ABS*+{:#x}", candidate.resolver);
  if (candidate.is_plt) name += "@plt";
  return name;
}

}  // namespace

namespace {

/// Slots that the dynamic linker fills are named after their content.
void name_slots(const ElfFile& image, std::span<const uint64_t> targets, bool demangles,
                std::vector<CodeName>& names) {
  std::vector<ElfSymbol> symbols;
  for (const ElfSection& section : image.sections()) {
    if ((section.type != SHT_RELA && section.type != SHT_REL) || (section.flags & SHF_ALLOC) == 0)
      continue;
    for (const ElfRelocation& relocation : image.relocations(section)) {
      if (relocation.symbol == 0) continue;
      auto target = std::ranges::lower_bound(targets, relocation.offset);
      if (target == targets.end() || *target != relocation.offset) continue;
      if (symbols.empty()) symbols = image.symbols(SymbolSection::kDynsym);
      if (relocation.symbol >= symbols.size()) continue;
      const ElfSymbol& symbol = symbols[relocation.symbol];
      if (symbol.name[0] == '\0') continue;
      bool is_here = symbol.section != SHN_UNDEF;
      names[static_cast<size_t>(target - targets.begin())] = {
          shown({.name = symbol.name}, demangles), is_here ? symbol.value : *target, true};
    }
  }
}

}  // namespace

std::string CodeName::text(uint64_t target) const {
  if (!is_known) return {};
  if (target == address) return symbol;
  return target > address ? fmt::format("{}+{:#x}", symbol, target - address)
                          : fmt::format("{}-{:#x}", symbol, address - target);
}

CodeNames::CodeNames(const CodeObject& object, std::vector<uint64_t> targets, bool demangle)
    : targets_(std::move(targets)) {
  std::ranges::sort(targets_);
  auto [first, last] = std::ranges::unique(targets_);
  targets_.erase(first, last);
  names_.resize(targets_.size());
  if (targets_.empty()) return;

  // The best symbol between each target and the previous one; nearer ones win over farther ones.
  std::vector<Candidate> best(targets_.size());
  Candidate lowest;  // for targets before every symbol
  std::vector<PltEntry> plt;
  for_each_candidate(object, plt, [&](const Candidate& candidate) {
    if (lowest.name == nullptr || candidate.value < lowest.value ||
        (candidate.value == lowest.value && goes_before(candidate, lowest)))
      lowest = candidate;
    auto behind = std::ranges::lower_bound(targets_, candidate.value);
    if (behind == targets_.end()) return;
    Candidate& slot = best[static_cast<size_t>(behind - targets_.begin())];
    if (is_better(candidate, slot)) slot = candidate;
  });
  Candidate nearest;
  for (size_t i = 0; i < targets_.size() && lowest.name != nullptr; ++i) {
    if (best[i].name != nullptr) nearest = best[i];
    const Candidate& chosen = nearest.name != nullptr ? nearest : lowest;
    names_[i] = {shown(chosen, demangle), chosen.value, true};
  }
  if (const ElfFile* image = object.image()) name_slots(*image, targets_, demangle, names_);
}

const CodeName& CodeNames::of(uint64_t target) const {
  auto found = std::ranges::lower_bound(targets_, target);
  return names_[static_cast<size_t>(found - targets_.begin())];
}

std::vector<CodeNames::Label> CodeNames::labels(const CodeObject& object, uint64_t start,
                                                uint64_t end, bool demangle) {
  std::map<uint64_t, Candidate> best;
  std::vector<PltEntry> plt;
  for_each_candidate(object, plt, [&](const Candidate& candidate) {
    if (candidate.value < start || candidate.value >= end) return;
    auto [slot, is_new] = best.try_emplace(candidate.value, candidate);
    if (!is_new && goes_before(candidate, slot->second)) slot->second = candidate;
  });
  std::vector<Label> labels;
  for (const auto& [address, candidate] : best)
    labels.push_back({address, shown(candidate, demangle)});
  return labels;
}

}  // namespace sonde::annotate
