#include "symbol/data_symbols.h"

#include <elf.h>

#include <algorithm>

#include "symbol/demangle.h"

namespace sonde {

std::string DataSymbols::Found::label() const {
  if (name.empty()) return fmt::format("+{:#x}", offset);
  return offset == 0 ? name : fmt::format("{}+{:#x}", name, offset);
}

struct DataSymbols::Variables {
  struct Variable {
    uint64_t start, end;
    std::string name;
  };
  std::optional<SegmentMap> segments;  // none: the object's file is not on this machine
  std::vector<Variable> by_start;

  void add(const ElfFile& file) {
    for (SymbolSection section : {SymbolSection::kSymtab, SymbolSection::kDynsym})
      file.for_each_symbol(section, [this](const ElfSymbol& symbol) {
        if (symbol.type != STT_OBJECT || symbol.section == SHN_UNDEF || symbol.size == 0) return;
        if (symbol.value > UINT64_MAX - symbol.size || *symbol.name == '\0') return;
        by_start.push_back({symbol.value, symbol.value + symbol.size, symbol.name});
      });
  }
  void sort() { std::ranges::stable_sort(by_start, {}, &Variable::start); }
  [[nodiscard]] bool holds(uint64_t address) const {
    return std::ranges::any_of(segments->segments(), [&](const ElfSegment& segment) {
      return address >= segment.addr.value && address - segment.addr.value < segment.memory_size;
    });
  }
  [[nodiscard]] const Variable* find(uint64_t address) const {
    auto after = std::ranges::upper_bound(by_start, address, {}, &Variable::start);
    if (after == by_start.begin()) return nullptr;
    // Of aliases, the one that was named first.
    auto first = std::ranges::lower_bound(by_start, std::prev(after)->start, {}, &Variable::start);
    auto found = std::find_if(first, after, [&](const Variable& one) { return address < one.end; });
    return found == after ? nullptr : &*found;
  }
};

DataSymbols::DataSymbols(const Machine& machine, const Symbolizer& symbolizer)
    : machine_(machine), symbolizer_(symbolizer), by_dso_(machine.dsos().size()) {}
DataSymbols::~DataSymbols() = default;

const DataSymbols::Variables& DataSymbols::variables_of(DsoId dso) {
  if (dso.index() >= by_dso_.size()) by_dso_.resize(dso.index() + 1);
  std::unique_ptr<Variables>& known = by_dso_[dso.index()];
  if (known) return *known;
  known = std::make_unique<Variables>();
  FoundObject object = symbolizer_.object_files(dso);
  if (!object.usable()) return *known;
  known->segments = object.segments();
  if (object.symbols) known->add(*object.symbols);
  if (object.runtime) known->add(*object.runtime);
  known->sort();
  return *known;
}

std::optional<DataSymbols::Found> DataSymbols::find(uint32_t pid, uint64_t time_ns,
                                                    RuntimeAddr address) {
  SpaceId space = machine_.space_at(pid, time_ns).space;
  if (!space.valid()) return std::nullopt;
  // Data follows the code of its object. Recordings may have data mappings, too, but the file
  // offset at which those begin may be visible in several segments.
  constexpr uint32_t kExecutable = 4;  // PROT_EXEC; old records do not say
  const Mapping* below = nullptr;
  for (const AddressSpace::Piece& piece : machine_.space(space).pieces()) {
    if (piece.start > address || piece.from > time_ns || piece.to <= time_ns) continue;
    const Mapping& mapping = machine_.mapping(piece.mapping);
    if (mapping.identity || !mapping.dso.valid()) continue;
    if (mapping.protection != 0 && (mapping.protection & kExecutable) == 0) continue;
    if (machine_.dsos()[mapping.dso].kind != DsoKind::kFile) continue;
    if (below == nullptr || mapping.start > below->start) below = &mapping;
  }
  if (below == nullptr) return std::nullopt;
  const Variables& variables = variables_of(below->dso);
  if (!variables.segments) return std::nullopt;
  auto code = variables.segments->addr_of(below->offset);
  if (!code) return std::nullopt;
  uint64_t in_object = code->value + (address - below->start);
  if (!variables.holds(in_object)) return std::nullopt;
  const Variables::Variable* found = variables.find(in_object);
  if (found == nullptr) return Found{below->dso, {}, in_object};
  return Found{below->dso, shown_name(found->name, false, {}), in_object - found->start};
}

}  // namespace sonde
