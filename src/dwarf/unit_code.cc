#include "dwarf/unit_code.h"

#include <dwarf.h>

#include <algorithm>

#include "dwarf/entry_cursor.h"

namespace sonde {
namespace {

constexpr uint32_t kMaxDepth = 256;
constexpr size_t kMaxNodes = 1 << 24;
constexpr size_t kMaxRanges = 1 << 24;
constexpr int kMaxEntryHops = 16;

std::optional<CodeNode::Kind> kind_of(uint16_t tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
      return CodeNode::Kind::kScope;
    case DW_TAG_subprogram:
      return CodeNode::Kind::kFunction;
    case DW_TAG_inlined_subroutine:
      return CodeNode::Kind::kInlined;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      return CodeNode::Kind::kBlock;
    case DW_TAG_variable:
      return CodeNode::Kind::kVariable;
    case DW_TAG_formal_parameter:
      return CodeNode::Kind::kParameter;
    default:
      return std::nullopt;
  }
}

bool is_record_type(uint16_t tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_interface_type;
}

bool is_list(const DwarfValue& location) {
  switch (location.form) {
    case DW_FORM_sec_offset:
    case DW_FORM_loclistx:
    case DW_FORM_data4:
    case DW_FORM_data8:
      return true;
    default:
      return false;
  }
}

}  // namespace

RecordCode code_in_records(const EntryCursor& root) {
  switch (root.number(DW_AT_language).value_or(0)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
      return RecordCode::kNever;
    default:
      // "GNU C++20 12.2.0 …": not GCC's other languages, nor what it wrote at link time.
      return root.text(DW_AT_producer).starts_with("GNU C++") ? RecordCode::kInFunctions
                                                              : RecordCode::kAnywhere;
  }
}

class UnitCodeReader {
 public:
  UnitCodeReader(const DwarfUnit& unit, UnitCode& out) : in_(unit, unit.entries), out_(out) {}

  void run() {
    if (!in_.next()) return;
    code_in_records_ = code_in_records(in_);
    out_.is_rust_ = in_.number(DW_AT_language) == DW_LANG_Rust;
    if (in_.has_children()) children(CodeNode::kNone, 0, code_in_records_ == RecordCode::kAnywhere);
  }

 private:
  /// `records_count`: whether functions may be in records.
  void children(uint32_t parent, uint32_t depth, bool records_count) {
    while (out_.nodes_.size() < kMaxNodes) {
      // Most entries are types.
      const Abbrev* ahead = in_.peek();
      auto kind = ahead == nullptr ? std::nullopt : kind_of(ahead->tag);
      bool is_record = ahead != nullptr && is_record_type(ahead->tag);
      bool is_type = !kind || (is_record && !records_count);
      if (ahead != nullptr && (is_type || is_declaration(*ahead))) {
        in_.skip_next();
        continue;
      }
      if (!in_.next()) return;
      if (is_declaration(*kind)) {
        in_.skip_children();
        continue;
      }
      auto index = static_cast<uint32_t>(out_.nodes_.size());
      out_.nodes_.push_back(node(*kind, parent));
      bool descend = in_.has_children() && depth < kMaxDepth && !out_.nodes_[index].is_variable();
      if (descend)
        children(index, depth + 1, records_count || may_have_records_with_code(*kind));
      else
        in_.skip_children();
      out_.nodes_[index].end = static_cast<uint32_t>(out_.nodes_.size());
      // A class without functions is only a type.
      if (*kind == CodeNode::Kind::kScope && out_.nodes_.size() == index + size_t{1})
        out_.nodes_.pop_back();
    }
  }

  /// What most entries of a class are.
  [[nodiscard]] bool is_declaration(const Abbrev& abbrev) const {
    auto says_so = [](const AttributeSpec& spec) {
      return spec.name == DW_AT_declaration && spec.form == DW_FORM_flag_present;
    };
    return abbrev.tag == DW_TAG_subprogram &&
           std::ranges::any_of(in_.unit().abbrevs->specs(abbrev), says_so);
  }

  /// Functions that are only declared have neither code nor copies; parameters below them say
  /// nothing.
  [[nodiscard]] bool is_declaration(CodeNode::Kind kind) const {
    return kind == CodeNode::Kind::kFunction && in_.number(DW_AT_declaration).value_or(0) != 0;
  }

  CodeNode node(CodeNode::Kind kind, uint32_t parent) {
    CodeNode made;
    made.kind = kind;
    made.entry = in_.entry().offset;
    made.parent = parent;
    if (DwarfEntry origin = in_.reference(DW_AT_abstract_origin); origin.unit == &in_.unit())
      made.origin = origin.offset;
    if (made.is_variable()) {
      made.is_external = in_.number(DW_AT_external).value_or(0) != 0;
      out_.is_optimised_ |= is_list(in_.value(DW_AT_location));
      return made;
    }
    uint64_t how = in_.number(DW_AT_inline).value_or(DW_INL_not_inlined);
    made.may_be_inlined = how == DW_INL_inlined || how == DW_INL_declared_inlined;
    made.first_range = static_cast<uint32_t>(out_.ranges_.size());
    if (kind != CodeNode::Kind::kScope)
      read_code(in_.unit(), in_.value(DW_AT_low_pc), in_.value(DW_AT_high_pc),
                in_.value(DW_AT_ranges), kMaxRanges, out_.ranges_);
    made.range_count = static_cast<uint32_t>(out_.ranges_.size()) - made.first_range;
    made.start = start_of(made);
    made.call_file = in_.number(DW_AT_call_file).value_or(0);
    made.call_line = static_cast<uint32_t>(in_.number(DW_AT_call_line).value_or(0));
    return made;
  }

  /// DWARF 5, section 2.18: an address, or an offset from the lowest one.
  [[nodiscard]] uint64_t start_of(const CodeNode& made) const {
    DwarfValue entry = in_.value(DW_AT_entry_pc), low = in_.value(DW_AT_low_pc);
    if (auto address = address_of(in_.unit(), entry)) return *address;
    auto base = address_of(in_.unit(), low);
    if (made.range_count == 0) return base && is_copy_of_nothing(made) ? *base : 0;
    uint64_t first = base ? *base : out_.ranges_[made.first_range].low;
    return first + in_.number(DW_AT_entry_pc).value_or(0);
  }
  /// Inlined code of which nothing was left still has an address.
  static bool is_copy_of_nothing(const CodeNode& made) {
    return made.kind == CodeNode::Kind::kInlined;
  }

  [[nodiscard]] bool may_have_records_with_code(CodeNode::Kind kind) const {
    return kind != CodeNode::Kind::kScope && code_in_records_ == RecordCode::kInFunctions;
  }

  EntryCursor in_;
  UnitCode& out_;
  RecordCode code_in_records_ = RecordCode::kAnywhere;
};

UnitCode UnitCode::read(const DwarfUnit& unit) {
  UnitCode code;
  code.unit_ = &unit;
  constexpr uint64_t kBytesPerNode = 32;  // about as many, mostly more
  code.nodes_.reserve(std::min<uint64_t>(kMaxNodes, (unit.end - unit.entries) / kBytesPerNode));
  if (unit.abbrevs != nullptr) UnitCodeReader(unit, code).run();
  for (uint32_t i = 0; i < code.nodes_.size(); ++i)
    if (code.nodes_[i].kind == CodeNode::Kind::kFunction && code.nodes_[i].has_code())
      code.functions_.push_back(i);
  return code;
}

bool UnitCode::covers(const CodeNode& node, uint64_t address) const {
  return std::ranges::any_of(ranges(node), [&](const CodeRange& range) {
    return address >= range.low && address < range.high;
  });
}

uint64_t UnitCode::end_of_entry(const CodeNode& node) const {
  for (const CodeRange& range : ranges(node))
    if (node.start >= range.low && node.start < range.high) return range.high;
  return 0;
}

uint32_t UnitCode::function_at(uint64_t address) const {
  for (uint32_t i : functions_)
    if (covers(nodes_[i], address)) return i;
  return CodeNode::kNone;
}

std::vector<uint32_t> UnitCode::functions_at(uint64_t address) const {
  std::vector<uint32_t> found;
  uint32_t at = function_at(address);
  if (at == CodeNode::kNone) return found;
  found.push_back(at);
  for (uint32_t i = at + 1, end = nodes_[at].end; i < end;) {
    const CodeNode& node = nodes_[i];
    bool is_inside = !node.is_variable() && covers(node, address);
    if (is_inside && node.kind == CodeNode::Kind::kInlined) {
      found.push_back(i);
      end = node.end;
    }
    i = is_inside || node.kind == CodeNode::Kind::kScope ? i + 1 : node.end;
  }
  return found;
}

EntryFacts EntryFacts::of(DwarfEntry entry) {
  EntryFacts facts;
  for (int hop = 0; hop < kMaxEntryHops && is_readable(entry); ++hop) {
    EntryCursor in(entry);
    if (!in.next()) break;
    if (facts.name.empty()) facts.name = in.text(DW_AT_name);
    if (facts.linkage_name.empty()) facts.linkage_name = in.text(DW_AT_linkage_name);
    if (facts.file_unit == nullptr)
      if (auto file = in.number(DW_AT_decl_file)) {
        facts.file_unit = entry.unit;
        facts.file = *file;
      }
    if (facts.line == 0) facts.line = static_cast<uint32_t>(in.number(DW_AT_decl_line).value_or(0));
    if (facts.type.unit == nullptr) facts.type = in.reference(DW_AT_type);
    DwarfEntry next = in.reference(DW_AT_abstract_origin);
    entry = next.unit != nullptr ? next : in.reference(DW_AT_specification);
  }
  return facts;
}

}  // namespace sonde
