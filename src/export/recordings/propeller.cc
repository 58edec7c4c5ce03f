#include "export/recordings/propeller.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "export/layout/block_order.h"
#include "export/layout/function_order.h"

namespace sonde {
namespace {

/// Words of these texts end at blanks.
bool is_one_word(std::string_view text) {
  return !text.empty() &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

/// The names of the functions that ran.
class EntryNames {
 public:
  EntryNames(const ProgramFlow& flow, const BasicBlockMap& map, const ElfFile& symbols) {
    for (const FunctionFlow& function : flow.functions)
      names_[map.functions()[function.function].entry.value];
    auto visit = [&](const ElfSymbol& symbol) {
      bool is_function = symbol.type == STT_FUNC && symbol.section != SHN_UNDEF;
      if (!is_function || !is_one_word(symbol.name)) return;
      ++uses_[symbol.name];
      auto found = names_.find(symbol.value);
      if (found == names_.end()) return;
      bool is_local = symbol.binding == STB_LOCAL;
      found.value().push_back({symbol.name, is_local});
    };
    symbols.for_each_symbol(SymbolSection::kSymtab, visit);
  }

  struct Name {
    std::string_view text;
    bool is_local = false;
  };
  /// Local ones only if there are no others.
  [[nodiscard]] std::vector<Name> of(ElfAddr entry) const {
    std::vector<Name> names = names_.at(entry.value);
    if (std::ranges::any_of(names, [](const Name& name) { return !name.is_local; }))
      std::erase_if(names, [](const Name& name) { return name.is_local; });
    std::ranges::sort(names, {}, &Name::text);
    auto repeated = std::ranges::unique(names, {}, &Name::text);
    names.erase(repeated.begin(), repeated.end());
    return names;
  }
  /// Whether there are several symbols of that name.
  [[nodiscard]] bool is_shared(std::string_view name) const { return uses_.at(name) > 1; }

 private:
  tsl::robin_map<uint64_t, std::vector<Name>, NumberHash> names_;
  std::map<std::string_view, uint32_t> uses_;
};

/// The blocks of one function that ran, and the entry.
struct HotBlocks {
  std::vector<uint32_t> in_function;  // index by hot block
  std::vector<OrderedBlock> blocks;
  std::vector<OrderedEdge> edges;  // indices of hot blocks
};

HotBlocks hot_blocks(const FunctionFlow& flow, std::span<const BasicBlock> blocks) {
  HotBlocks hot;
  std::vector<uint32_t> number(blocks.size(), UINT32_MAX);
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (b > 0 && flow.counts[b] == 0) continue;
    number[b] = static_cast<uint32_t>(hot.blocks.size());
    hot.in_function.push_back(b);
    hot.blocks.push_back({blocks[b].size, flow.counts[b]});
  }
  for (const FunctionFlow::Edge& edge : flow.edges)
    if (number[edge.from] != UINT32_MAX && number[edge.to] != UINT32_MAX)
      hot.edges.push_back({number[edge.from], number[edge.to], edge.count});
  return hot;
}

/// Whether the compiler can take it: an id once, the entry's is 0.
bool has_own_ids(std::span<const BasicBlock> blocks) {
  std::set<uint32_t> ids;
  for (const BasicBlock& block : blocks) ids.insert(block.id);
  return blocks.front().id == 0 && ids.size() == blocks.size();
}

/// The compiler keeps landing pads together: if some ran, the others are not in the cold part.
bool has_cold_part(const FunctionFlow& flow, std::span<const BasicBlock> blocks) {
  bool has_cold_code = false, has_cold_pad = false, has_hot_pad = false;
  for (uint32_t b = 1; b < blocks.size(); ++b) {
    bool is_cold = flow.counts[b] == 0;
    if (!blocks[b].is_landing_pad)
      has_cold_code |= is_cold;
    else
      (is_cold ? has_cold_pad : has_hot_pad) = true;
  }
  return has_cold_code || (has_cold_pad && !has_hot_pad);
}

class LayoutBuilder {
 public:
  LayoutBuilder(const ProgramFlow& flow, const BasicBlockMap& map, const ElfFile& symbols,
                const ModuleOf& module_of)
      : flow_(flow), map_(map), names_(flow, map, symbols), module_of_(module_of) {}

  PropellerLayout build() && {
    for (const FunctionFlow& flow : flow_.functions) add(flow);
    put_in_order();
    return std::move(layout_);
  }

 private:
  void add(const FunctionFlow& flow) {
    const BasicBlockMap::Function& place = map_.functions()[flow.function];
    std::span<const BasicBlock> blocks = map_.blocks(place);
    PropellerLayout::Function function;
    if (!has_own_ids(blocks)) {
      ++layout_.cloned;
      return;
    }
    if (!name(place.entry, function)) return;

    HotBlocks hot = hot_blocks(flow, blocks);
    OrderedFunction totals;
    for (const OrderedBlock& block : hot.blocks) {
      totals.size += block.size;
      totals.heat += block.size * block.count;
    }
    function.hot = cluster(flow, hot, blocks);
    function.has_cold_blocks = has_cold_part(flow, blocks);
    number_of_.emplace(flow.function, static_cast<uint32_t>(layout_.functions.size()));
    totals_.push_back(totals);
    layout_.functions.push_back(std::move(function));
  }

  static std::vector<PropellerLayout::Block> cluster(const FunctionFlow& flow, const HotBlocks& hot,
                                                     std::span<const BasicBlock> blocks) {
    std::vector<PropellerLayout::Block> cluster;
    for (uint32_t b : order_blocks(hot.blocks, hot.edges)) {
      uint32_t index = hot.in_function[b];
      PropellerLayout::Block block{blocks[index].id, flow.counts[index], {}};
      // Edges are sorted by where they come from.
      auto ways = std::ranges::equal_range(flow.edges, index, {}, &FunctionFlow::Edge::from);
      for (const FunctionFlow::Edge& edge : ways)
        block.next.emplace_back(blocks[edge.to].id, edge.count);
      cluster.push_back(std::move(block));
    }
    return cluster;
  }

  /// False if the function cannot be told from others; counts it.
  bool name(ElfAddr entry, PropellerLayout::Function& function) {
    std::vector<EntryNames::Name> names = names_.of(entry);
    if (names.empty()) {
      ++layout_.unnamed;
      return false;
    }
    bool needs_module = names.front().is_local && std::ranges::any_of(names, [&](const auto& name) {
                          return names_.is_shared(name.text);
                        });
    if (needs_module) function.module = module_of_(entry);
    for (const EntryNames::Name& name : names) function.names.emplace_back(name.text);
    bool is_told = !needs_module || is_one_word(function.module);
    // The compiler looks for all of the names, and takes a function's first profile for an error.
    for (const std::string& text : function.names)
      is_told = is_told && taken_.insert(function.module + '\n' + text).second;
    if (is_told) return true;
    if (++layout_.ambiguous == 1) layout_.first_ambiguous = function.names.front();
    return false;
  }

  void put_in_order() {
    std::vector<ProgramFlow::Call> calls;
    for (const ProgramFlow::Call& call : flow_.calls) {
      auto from = number_of_.find(call.from), to = number_of_.find(call.to);
      if (from != number_of_.end() && to != number_of_.end())
        calls.push_back({from->second, to->second, call.count});
    }
    std::vector<PropellerLayout::Function> ordered;
    for (uint32_t f : order_functions(totals_, calls))
      ordered.push_back(std::move(layout_.functions[f]));
    layout_.functions = std::move(ordered);
  }

  const ProgramFlow& flow_;
  const BasicBlockMap& map_;
  EntryNames names_;
  const ModuleOf& module_of_;
  PropellerLayout layout_;
  std::vector<OrderedFunction> totals_;     // by number in the layout
  std::map<uint32_t, uint32_t> number_of_;  // in the layout, by index in the map
  std::set<std::string> taken_;             // module and name of those in the layout
};

}  // namespace

PropellerLayout propeller_layout(const ProgramFlow& flow, const BasicBlockMap& map,
                                 const ElfFile& symbols, const ModuleOf& module_of) {
  return LayoutBuilder(flow, map, symbols, module_of).build();
}

void write_propeller_clusters(Sink& out, const PropellerLayout& layout) {
  out.write("v1\n");
  for (const PropellerLayout::Function& function : layout.functions) {
    if (!function.module.empty()) out.print("m {}\n", function.module);
    out.put('f');
    for (const std::string& name : function.names) out.print(" {}", name);
    out.write("\nc");
    for (const PropellerLayout::Block& block : function.hot) out.print(" {}", block.id);
    out.write("\n#cfg");
    for (const PropellerLayout::Block& block : function.hot) {
      out.print(" {}:{}", block.id, block.count);
      for (auto [id, count] : block.next) out.print(",{}:{}", id, count);
    }
    out.put('\n');
  }
}

void write_propeller_symbols(Sink& out, const PropellerLayout& layout) {
  // Local functions may share a name: the linker takes it for all of them.
  std::set<std::string_view> written;
  auto is_new = [&](const std::string& name) { return written.insert(name).second; };
  for (const PropellerLayout::Function& function : layout.functions)
    if (is_new(function.names.front())) out.print("{}\n", function.names.front());
  written.clear();
  for (const PropellerLayout::Function& function : layout.functions)
    if (function.has_cold_blocks && is_new(function.names.front()))
      out.print("{}.cold\n", function.names.front());
}

}  // namespace sonde
