#include "dwarf/names/function_names.h"

#include <dwarf.h>

#include <algorithm>

#include "dwarf/entry_cursor.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

/// Longer than the chain from an inlined copy to its abstract instance and on to its declaration.
constexpr int kMaxReferences = 16;
constexpr int kMaxScopesAround = 64;
constexpr uint32_t kNoScopeAround = UINT32_MAX;
/// Qualified names of a unit take a fraction of its own size.
constexpr uint64_t kMaxGrowth = 16;

struct Named {
  std::string_view linkage, plain;
  DwarfEntry declaration;  // the last entry, which is inside the scopes of the source
};

/// An entry's name is often not in the entry itself, but in one that it refers to.
Named look_up(DwarfEntry entry) {
  Named found;
  for (int hop = 0; hop < kMaxReferences && is_readable(entry); ++hop) {
    const DwarfUnit& unit = *entry.unit;
    ByteCursor in(unit.file->section(unit.section).first(unit.end), unit.file->order());
    in.skip(entry.offset);
    const Abbrev* abbrev = unit.abbrevs->find(uleb128(in));
    if (abbrev == nullptr) break;
    found.declaration = entry;
    DwarfEntry next;
    for (const AttributeSpec& spec : unit.abbrevs->specs(*abbrev)) {
      DwarfValue value = read_value(in, spec, unit.format);
      if (spec.name == DW_AT_linkage_name || spec.name == DW_AT_MIPS_linkage_name) {
        found.linkage = text_of(unit, value);
        if (!found.linkage.empty()) return found;
      } else if (spec.name == DW_AT_name && found.plain.empty()) {
        found.plain = text_of(unit, value);
      } else if (spec.name == DW_AT_abstract_origin || spec.name == DW_AT_specification) {
        next = entry_of(unit, value);
      }
    }
    entry = next;
  }
  return found;
}

bool is_class(uint16_t tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

bool is_scope(uint16_t tag) {
  return is_class(tag) || tag == DW_TAG_namespace || tag == DW_TAG_subprogram;
}

/// Whether scopes may be in an entry that is none itself.
bool may_contain_scopes(uint16_t tag) {
  switch (tag) {
    case DW_TAG_compile_unit:
    case DW_TAG_partial_unit:
    case DW_TAG_type_unit:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      return true;
    default:
      return is_scope(tag);
  }
}

/// As demanglers write what has no name.
std::string_view nameless(uint16_t tag, std::string_view inside) {
  if (tag == DW_TAG_namespace) return "(anonymous namespace)";
  return is_class(tag) && inside.starts_with("operator()") ? "{lambda}" : "{unnamed type}";
}

/// Moves past an entry's values, and past its children if it says where they end.
bool skip_with_children(ByteCursor& in, const DwarfUnit& unit, const Abbrev& abbrev) {
  DwarfEntry sibling;
  for (const AttributeSpec& spec : unit.abbrevs->specs(abbrev)) {
    DwarfValue value = read_value(in, spec, unit.format);
    if (spec.name == DW_AT_sibling) sibling = entry_of(unit, value);
  }
  if (sibling.unit != &unit || sibling.offset <= in.position()) return false;
  in.skip(sibling.offset - in.position());
  return true;
}

bool is_c_plus_plus(const DwarfUnit& unit) {
  if (unit.abbrevs == nullptr) return false;
  EntryCursor root(unit, unit.entries);
  if (!root.next()) return false;
  switch (root.number(DW_AT_language).value_or(0)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b:  // C++17 and C++20, which older versions of dwarf.h do not name
    case 0x2c:
    case DW_LANG_ObjC_plus_plus:
      return true;
    default:
      return false;
  }
}

}  // namespace

FunctionNames::FunctionNames(const DwarfUnit& unit)
    : is_qualified_(is_c_plus_plus(unit)), room_((unit.end - unit.offset) * kMaxGrowth) {}

std::string_view FunctionNames::of(DwarfEntry entry) {
  Named found = look_up(entry);
  if (!found.linkage.empty()) return found.linkage;
  if (!is_qualified_ || found.plain.empty()) return found.plain;
  std::vector<std::string_view> parts{found.plain};  // from the inside out
  uint64_t size = 0;
  for (int depth = 0; depth < kMaxScopesAround; ++depth) {
    const Scope* around = scope_around(found.declaration);
    if (around == nullptr) break;
    uint16_t tag = around->tag;
    found = look_up({found.declaration.unit, around->entry});
    bool is_function = tag == DW_TAG_subprogram && !found.linkage.empty();
    std::string_view name = is_function ? found.linkage : found.plain;
    parts.push_back(name.empty() ? nameless(tag, parts.back()) : name);
    size += parts.back().size() + 2;
    if (is_function) break;
  }
  if (size > room_) return parts[0];
  room_ -= size;
  std::string& name = qualified_.emplace_back();
  name.reserve(size + parts[0].size());
  for (size_t i = parts.size(); i-- > 1;) name.append(parts[i]).append("::");
  return name.append(parts[0]);
}

FunctionNames::Scopes FunctionNames::read_scopes(const DwarfUnit& unit) {
  Scopes scopes;
  ByteCursor in(unit.file->section(unit.section).first(unit.end), unit.file->order());
  in.skip(unit.entries);
  std::vector<uint32_t> outer;  // by depth
  uint32_t around = kNoScopeAround;
  while (in.left() > 0) {
    uint64_t offset = in.position();
    uint64_t code = uleb128(in);
    if (code == 0) {
      if (outer.empty()) break;
      around = outer.back();
      outer.pop_back();
      continue;
    }
    const Abbrev* abbrev = unit.abbrevs->find(code);
    if (abbrev == nullptr) break;
    uint32_t inside = around;
    if (is_scope(abbrev->tag)) {
      inside = static_cast<uint32_t>(scopes.size());
      scopes.push_back({offset, around, abbrev->tag});
    }
    bool skipped = false;
    if (abbrev->has_children && !may_contain_scopes(abbrev->tag))
      skipped = skip_with_children(in, unit, *abbrev);
    else
      skip_values(in, unit, *abbrev);
    if (!in.ok()) break;
    if (!abbrev->has_children || skipped) continue;
    outer.push_back(around);
    around = inside;
  }
  return scopes;
}

const FunctionNames::Scope* FunctionNames::scope_around(DwarfEntry entry) {
  if (!is_readable(entry)) return nullptr;
  auto [found, is_new] = scopes_.try_emplace(entry.unit);
  Scopes& scopes = found->second;
  if (is_new) scopes = read_scopes(*entry.unit);
  auto own = std::ranges::lower_bound(scopes, entry.offset, {}, &Scope::entry);
  if (own == scopes.end() || own->entry != entry.offset || own->around == kNoScopeAround)
    return nullptr;
  return &scopes[own->around];
}

}  // namespace sonde
