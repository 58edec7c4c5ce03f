#include "symbol/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <map>

#include "dwarf/cfi_sections.h"
#include "symbol/demangle.h"

namespace sonde {
namespace {

constexpr uint64_t kPage = 4096;

/// Rounds `value` up to a page boundary and adds one page; the end of the address space if that
/// wraps.
uint64_t page_after(uint64_t value) {
  uint64_t end = ((value + kPage - 1) & ~(kPage - 1)) + kPage;
  return end > value ? end : UINT64_MAX;
}

size_t leading_underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

/// Constructors and destructors come in variants that differ in one digit of the mangled name and
/// have the same demangled name. They are most of the aliases in C++ objects, and need no
/// demangling to be recognised as equal.
bool same_but_variant(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  auto [at, other] = std::ranges::mismatch(a, b);
  if (at == a.end()) return true;
  auto place = static_cast<size_t>(at - a.begin());
  bool digits = *at >= '0' && *at <= '5' && *other >= '0' && *other <= '5';
  bool variant = place > 0 && (a[place - 1] == 'C' || a[place - 1] == 'D');
  return digits && variant && a.substr(place + 1) == b.substr(place + 1);
}

bool prefer_first_by_name(std::string_view a, std::string_view b) {
  size_t underscores_a = leading_underscores(a);
  size_t underscores_b = leading_underscores(b);
  if (underscores_a != underscores_b) return underscores_a < underscores_b;
  if (a.size() != b.size()) return a.size() > b.size();
  // Old kernels had a second name for each system call ("SyS_read"), which nobody looks for.
  return !a.starts_with("SyS") && !a.starts_with("compat_SyS");
}

/// Disjoint address ranges that are already taken.
class TakenRanges {
 public:
  /// Appends the parts of `symbol` that are still free, and marks them as taken.
  void take(const Symbol& symbol, LargeVector<Symbol>& pieces) {
    auto next = ends_.upper_bound(symbol.start);
    if (next != ends_.begin() && std::prev(next)->second > symbol.start) --next;
    if (symbol.start == symbol.end) {
      bool is_taken = next != ends_.end() && next->first <= symbol.start;
      if (!is_taken) pieces.push_back(symbol);
      return;
    }
    auto piece = [&](uint64_t start, uint64_t end) {
      if (start >= end) return;
      pieces.push_back(symbol);
      pieces.back().start = start;
      pieces.back().end = end;
    };
    uint64_t free = symbol.start;
    uint64_t merged_start = symbol.start;
    uint64_t merged_end = symbol.end;
    auto first_merged = next;
    for (; next != ends_.end() && next->first < symbol.end; ++next) {
      piece(free, next->first);
      free = next->second;
      merged_start = std::min(merged_start, next->first);
      merged_end = std::max(merged_end, next->second);
    }
    piece(free, symbol.end);
    ends_.erase(first_merged, next);
    ends_.emplace(merged_start, merged_end);
  }

 private:
  std::map<uint64_t, uint64_t> ends_;  // start to end
};

}  // namespace

bool prefer_first(const Symbol& a, const Symbol& b) {
  if ((a.size() == 0) != (b.size() == 0)) return a.size() != 0;
  if (a.type != b.type) {
    if (a.type == STT_NOTYPE) return false;
    if (b.type == STT_NOTYPE) return true;
  }
  if ((a.binding == STB_WEAK) != (b.binding == STB_WEAK)) return b.binding == STB_WEAK;
  if ((a.binding == STB_GLOBAL) != (b.binding == STB_GLOBAL)) return a.binding == STB_GLOBAL;
  std::string_view name_a = a.name();
  std::string_view name_b = b.name();
  if (same_but_variant(name_a, name_b)) return prefer_first_by_name(name_a, name_a);
  if (!is_mangled(name_a) && !is_mangled(name_b)) return prefer_first_by_name(name_a, name_b);
  // perf compares names in their displayed form.
  DemangleOptions options;
  return prefer_first_by_name(shown_name(name_a, false, options),
                              shown_name(name_b, false, options));
}

const Symbol* SymbolTable::find(uint64_t address) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (after == starts_.begin()) return nullptr;
  auto i = static_cast<size_t>(after - starts_.begin()) - 1;
  while (true) {
    const Symbol& symbol = symbols_[i];
    if (address < symbol.end || address == symbol.start) return &symbol;
    if (enclosing_.empty() || enclosing_[i] == i) return nullptr;
    i = enclosing_[i];
  }
}

std::vector<const Symbol*> SymbolTable::find_by_name(std::string_view name) const {
  std::vector<const Symbol*> found;
  for (const Symbol& symbol : symbols_)
    if (symbol.name() == name) found.push_back(&symbol);
  return found;
}

void SymbolTableBuilder::sort_pending() {
  auto before = [](const Symbol& a, const Symbol& b) { return a.start < b.start; };
  if (std::ranges::is_sorted(pending_, before)) return;
  // Symbols at one address stay in source order.
  std::vector<uint32_t> order = all_rows(pending_.size());
  order_by(order, [this](uint32_t i) { return pending_[i].start; }, buffers_);
  LargeVector<Symbol> sorted;
  sorted.reserve(pending_.size());
  for (uint32_t i : order) sorted.push_back(pending_[i]);
  pending_ = std::move(sorted);
}

void SymbolTableBuilder::fix_ends(FixupEnd rule) {
  for (size_t i = 0; i < pending_.size(); ++i) {
    Symbol& symbol = pending_[i];
    if (symbol.end != symbol.start) continue;
    if (rule == FixupEnd::kElf) guessed_.push_back(symbol.start);
    bool last = i + 1 == pending_.size();
    if (last)
      symbol.end = page_after(symbol.start);
    else if (rule == FixupEnd::kKallsyms && pending_[i + 1].module != symbol.module)
      symbol.end = std::min(page_after(symbol.start), pending_[i + 1].start);
    else
      symbol.end = pending_[i + 1].start;
  }
}

void SymbolTableBuilder::drop_duplicates() {
  size_t kept = 0;
  for (size_t i = 1; i < pending_.size(); ++i) {
    if (pending_[kept].start != pending_[i].start) {
      pending_[++kept] = pending_[i];
      continue;
    }
    if (!prefer_first(pending_[kept], pending_[i])) std::swap(pending_[kept], pending_[i]);
  }
  if (!pending_.empty()) pending_.resize(kept + 1);
}

void SymbolTableBuilder::finalize(FixupEnd rule) {
  sort_pending();
  fix_ends(rule);
  drop_duplicates();
}

bool SymbolTableBuilder::has_settled(uint64_t start, std::string_view name) const {
  auto found = std::ranges::lower_bound(pending_, start, {}, &Symbol::start);
  return found != pending_.end() && found->start == start && found->name() == name;
}

void SymbolTableBuilder::fill_gaps(std::span<const FunctionRange> functions) {
  sort_pending();
  std::ranges::sort(guessed_);
  LargeVector<Symbol> added;
  Symbol* guessed = nullptr;  // the last one that begins before the function
  uint64_t known_end = 0;     // of the symbols that begin before it
  auto next = pending_.begin();
  for (const FunctionRange& function : functions) {
    bool is_named = false;
    for (; next != pending_.end() && next->start <= function.start; ++next) {
      is_named = next->start == function.start;
      if (std::ranges::binary_search(guessed_, next->start))
        guessed = &*next;
      else
        known_end = std::max(known_end, next->end);
    }
    if (is_named || function.start < known_end) continue;
    if (guessed != nullptr) guessed->end = std::min(guessed->end, function.start);
    added.push_back({.start = function.start,
                     .end = function.end,
                     .name_chars = nullptr,
                     .name_size = 0,
                     .type = STT_FUNC,
                     .binding = STB_LOCAL});
  }
  pending_.insert(pending_.end(), added.begin(), added.end());
}

void SymbolTableBuilder::settle_last_wins() {
  // Newest first: each symbol gets what no newer one has taken.
  TakenRanges taken;
  LargeVector<Symbol> pieces;
  pieces.reserve(pending_.size());
  for (auto newest = pending_.rbegin(); newest != pending_.rend(); ++newest)
    taken.take(*newest, pieces);
  // Oldest first again: between a range and a point at its start, the later one is found.
  std::ranges::reverse(pieces);
  pending_ = std::move(pieces);
  sort_pending();
}

SymbolTable SymbolTableBuilder::build() && {
  sort_pending();
  SymbolTable table;
  table.symbols_ = std::move(pending_);
  table.storage_ = std::move(storage_);
  table.starts_.reserve(table.symbols_.size());
  uint64_t reach = 0;
  bool overlap = false;
  for (const Symbol& symbol : table.symbols_) {
    overlap |= symbol.start < reach;
    reach = std::max(reach, symbol.end);
    table.starts_.push_back(symbol.start);
  }
  if (!overlap) return table;
  // For each symbol, the nearest preceding one that ends later: if an address is past the end of
  // the nearest symbol, only those can contain it.
  std::vector<uint32_t> open;
  table.enclosing_.reserve(table.symbols_.size());
  for (uint32_t i = 0; i < table.symbols_.size(); ++i) {
    while (!open.empty() && table.symbols_[open.back()].end <= table.symbols_[i].end)
      open.pop_back();
    table.enclosing_.push_back(open.empty() ? i : open.back());
    open.push_back(i);
  }
  return table;
}

}  // namespace sonde
