#include "dwarf/function_tree.h"

#include <dwarf.h>

#include <algorithm>
#include <tuple>

namespace sonde {
namespace {

/// Deeper nesting than any compiler makes; a damaged file must not exhaust the stack.
constexpr int kMaxDepth = 200;

std::string_view function_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
    if (dwarf_attr_integrate(&die, name, &attribute) != nullptr)
      if (const char* text = dwarf_formstring(&attribute)) return text;
  return {};
}

uint64_t number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
    return 0;
  return value;
}

}  // namespace

FunctionTree FunctionTree::read(Dwarf_Die& unit) {
  FunctionTree tree;
  Dwarf_Files* files = nullptr;
  size_t file_count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &file_count) != 0) files = nullptr;
  std::vector<Range> ranges;
  tree.walk(unit, files, kNone, 0, ranges);
  tree.flatten(ranges);
  return tree;
}

void FunctionTree::walk(Dwarf_Die& parent, Dwarf_Files* files, uint32_t around, int depth,
                        std::vector<Range>& ranges) {
  Dwarf_Die die;
  if (depth > kMaxDepth || dwarf_child(&parent, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
        walk(die, files, add(die, files, kNone, false, ranges), depth + 1, ranges);
        break;
      case DW_TAG_inlined_subroutine:
        walk(die, files, add(die, files, around, true, ranges), depth + 1, ranges);
        break;
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
        walk(die, files, around, depth + 1, ranges);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

uint32_t FunctionTree::add(Dwarf_Die& die, Dwarf_Files* files, uint32_t around, bool inlined,
                           std::vector<Range>& ranges) {
  auto id = static_cast<uint32_t>(functions_.size());
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  ptrdiff_t at = 0;
  bool has_code = false;
  while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0) {
    if (low >= high) continue;
    ranges.push_back({low, high, id});
    has_code = true;
  }
  // Declarations and abstract instances have no code; what is nested in them belongs to what is
  // around them.
  if (!has_code) return around;
  Function function;
  function.name = function_name(die);
  function.inlined = inlined;
  function.parent = around;
  if (inlined) {
    function.call_line = static_cast<uint32_t>(number(die, DW_AT_call_line));
    const char* file = files == nullptr
                           ? nullptr
                           : dwarf_filesrc(files, static_cast<size_t>(number(die, DW_AT_call_file)),
                                           nullptr, nullptr);
    if (file != nullptr) function.call_file = file;
  }
  functions_.push_back(function);
  return id;
}

void FunctionTree::flatten(std::vector<Range>& ranges) {
  std::ranges::sort(ranges, [](const Range& a, const Range& b) {
    return std::tie(a.low, a.function) < std::tie(b.low, b.function);
  });
  std::vector<Range> open;  // each inside the one before it
  auto mark = [this](uint64_t addr, uint32_t function) {
    if (!boundaries_.empty() && boundaries_.back().addr == addr)
      boundaries_.back().function = function;
    else
      boundaries_.push_back({addr, function});
  };
  auto close_until = [&](uint64_t addr) {
    while (!open.empty() && open.back().high <= addr) {
      uint64_t end = open.back().high;
      open.pop_back();
      mark(end, open.empty() ? kNone : open.back().function);
    }
  };
  for (Range range : ranges) {
    close_until(range.low);
    // Damaged trees may leave their parent; they are cut to it, so that boundaries stay in order.
    if (!open.empty()) range.high = std::min(range.high, open.back().high);
    mark(range.low, range.function);
    open.push_back(range);
  }
  close_until(UINT64_MAX);
}

uint32_t FunctionTree::find(uint64_t addr) const {
  auto after = std::ranges::upper_bound(boundaries_, addr, {}, &Boundary::addr);
  return after == boundaries_.begin() ? kNone : std::prev(after)->function;
}

}  // namespace sonde
