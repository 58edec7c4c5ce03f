#include "dwarf/function_tree.h"

#include <dwarf.h>
#include <tsl/robin_map.h>

#include <algorithm>

#include "dwarf/dwarf_ranges.h"
#include "dwarf/line_program.h"
#include "dwarf/names/function_names.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

/// Walks the entries of a unit and keeps the functions that have code.
class Walk {
 public:
  Walk(const DwarfUnit& unit, const DwarfUnit& with_lines)
      : unit_(unit), program_(with_lines), function_names_(unit) {
    for (DwarfSection lists : {DwarfSection::kRanges, DwarfSection::kRnglists})
      most_ranges_ += unit.file->section(lists).size();
    if (unit.skeleton != nullptr)
      most_ranges_ += unit.skeleton->file->section(DwarfSection::kRanges).size();
  }

  void run() {
    if (unit_.abbrevs == nullptr) return;
    ByteCursor in(unit_.file->section(unit_.section).first(unit_.end), unit_.file->order());
    in.skip(unit_.entries);
    std::vector<uint32_t> around;  // by depth
    uint32_t function = FunctionTree::kNone;
    while (in.left() > 0) {
      uint64_t offset = in.position();
      uint64_t code = uleb128(in);
      if (code == 0) {
        if (around.empty()) break;
        function = around.back();
        around.pop_back();
        continue;
      }
      const Abbrev* abbrev = unit_.abbrevs->find(code);
      if (abbrev == nullptr) break;
      uint32_t inside = visit(in, *abbrev, offset, function);
      if (!in.ok()) break;
      if (abbrev->has_children && !skipped_children_) {
        around.push_back(function);
        function = inside;
      }
    }
  }

  std::vector<FunctionTree::Function> functions;
  std::vector<NestedRange> ranges;
  StringHeap strings;
  FileHeap files;

 private:
  /// Reads one entry; returns the function that contains its children.
  uint32_t visit(ByteCursor& in, const Abbrev& abbrev, uint64_t offset, uint32_t around) {
    skipped_children_ = false;
    switch (abbrev.tag) {
      case DW_TAG_subprogram:
        return add(in, abbrev, offset, FunctionTree::kNone, false);
      case DW_TAG_inlined_subroutine:
        return add(in, abbrev, offset, around, true);
      case DW_TAG_compile_unit:
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        skip_values(in, unit_, abbrev);
        return around;
      default:
        if (abbrev.has_children)
          skip_tree(in, abbrev);
        else
          skip_values(in, unit_, abbrev);
        return around;
    }
  }

  /// Skips the entry's children, if it says where they end.
  void skip_tree(ByteCursor& in, const Abbrev& abbrev) {
    DwarfEntry sibling;
    for (const AttributeSpec& spec : unit_.abbrevs->specs(abbrev)) {
      DwarfValue value = read_value(in, spec, unit_.format);
      if (spec.name == DW_AT_sibling) sibling = entry_of(unit_, value);
    }
    if (sibling.unit != &unit_ || sibling.offset <= in.position()) return;
    in.skip(sibling.offset - in.position());
    skipped_children_ = true;
  }

  uint32_t add(ByteCursor& in, const Abbrev& abbrev, uint64_t offset, uint32_t around,
               bool is_inlined) {
    DwarfValue low, high, list, file, line, origin;
    for (const AttributeSpec& spec : unit_.abbrevs->specs(abbrev)) {
      DwarfValue value = read_value(in, spec, unit_.format);
      switch (spec.name) {
        case DW_AT_low_pc:
          low = value;
          break;
        case DW_AT_high_pc:
          high = value;
          break;
        case DW_AT_ranges:
          list = value;
          break;
        case DW_AT_call_file:
          file = value;
          break;
        case DW_AT_call_line:
          line = value;
          break;
        case DW_AT_abstract_origin:
          origin = value;
          break;
        default:
          break;
      }
    }
    // Declarations and abstract instances have no code; what is nested in them belongs to the
    // enclosing function.
    if (!in.ok() || !add_ranges(low, high, list)) return around;
    FunctionTree::Function function;
    function.name = name({&unit_, offset}, origin);
    function.inlined = is_inlined ? 1 : 0;
    function.parent = around;
    if (is_inlined) {
      function.call_line = static_cast<uint32_t>(line.number);
      function.call_file =
          files.add(file.number, strings, [&](uint64_t n) { return program_.file(n); });
    }
    functions.push_back(function);
    return static_cast<uint32_t>(functions.size() - 1);
  }

  bool add_ranges(const DwarfValue& low, const DwarfValue& high, const DwarfValue& list) {
    pieces_.clear();
    size_t room = most_ranges_ > ranges.size() ? most_ranges_ - ranges.size() : 0;
    read_code(unit_, low, high, list, room, pieces_);
    auto id = static_cast<uint32_t>(functions.size());
    for (const CodeRange& piece : pieces_) ranges.push_back({piece.low, piece.high, id});
    return !pieces_.empty();
  }

  /// Copies of a function share the entry they refer to, and so its name.
  uint32_t name(DwarfEntry entry, const DwarfValue& origin) {
    DwarfEntry named = entry_of(unit_, origin);
    if (named.unit == nullptr) return strings.add(function_names_.of(entry));
    auto [found, is_new] = names_.try_emplace({named.unit->file, named.offset}, 0);
    if (is_new) found.value() = strings.add(function_names_.of(entry));
    return found->second;
  }

  struct HashEntry {
    size_t operator()(const std::pair<const DwarfFile*, uint64_t>& key) const {
      return (reinterpret_cast<uintptr_t>(key.first) ^ key.second) * 0x9e3779b97f4a7c15u >> 7;
    }
  };

  const DwarfUnit& unit_;
  LineProgram program_;
  FunctionNames function_names_;
  size_t most_ranges_ = 0;
  bool skipped_children_ = false;
  std::vector<CodeRange> pieces_;
  tsl::robin_map<std::pair<const DwarfFile*, uint64_t>, uint32_t, HashEntry> names_;
};

}  // namespace

FunctionTree FunctionTree::read(const DwarfUnit& unit, const DwarfUnit& files) {
  Walk walk(unit, files);
  walk.run();
  TablePacker packer;
  packer.put<Function>(walk.functions);
  packer.put<RangeBoundary>(flatten(std::move(walk.ranges)));
  packer.put<PackedFile>(walk.files.files());
  packer.put<char>(walk.strings.chars());
  std::vector<std::byte> bytes = std::move(packer).finish();
  FunctionTree tree = view(bytes);
  tree.own_ = std::move(bytes);
  return tree;
}

FunctionTree FunctionTree::view(Bytes bytes) {
  FunctionTree tree;
  TableReader reader(bytes);
  reader.get(tree.functions_);
  reader.get(tree.boundaries_);
  reader.get(tree.files_);
  reader.get(tree.strings_);
  return reader.ok() ? std::move(tree) : FunctionTree();
}

uint32_t FunctionTree::find(uint64_t addr) const {
  auto after = std::ranges::upper_bound(boundaries_, addr, {}, &RangeBoundary::addr);
  return after == boundaries_.begin() ? kNone : std::prev(after)->id;
}

}  // namespace sonde
