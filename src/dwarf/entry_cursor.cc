#include "dwarf/entry_cursor.h"

#include <dwarf.h>

#include <algorithm>
#include <span>

#include "elf/leb128.h"

namespace sonde {
namespace {

ByteCursor entries_from(const DwarfUnit& unit, uint64_t offset) {
  ByteCursor in(unit.file->section(unit.section).first(unit.end), unit.file->order());
  in.skip(offset);
  return in;
}

}  // namespace

EntryCursor::EntryCursor(const DwarfUnit& unit, uint64_t offset)
    : unit_(&unit), in_(entries_from(unit, offset)), ok_(unit.abbrevs != nullptr) {}

bool EntryCursor::next() {
  if (!ok_) return false;
  offset_ = in_.position();
  uint64_t code = uleb128(in_);
  if (!in_.ok()) ok_ = false;
  if (code == 0 || !ok_) return false;
  const Abbrev* abbrev = unit_->abbrevs->find(code);
  if (abbrev == nullptr) {
    ok_ = false;
    return false;
  }
  tag_ = abbrev->tag;
  has_children_ = abbrev->has_children;
  std::span<const AttributeSpec> specs = unit_->abbrevs->specs(*abbrev);
  constexpr size_t kUsual = 16;  // most entries have fewer
  values_.clear();
  values_.reserve(std::max(kUsual, specs.size()));
  for (const AttributeSpec& spec : specs)
    values_.emplace_back(spec.name, read_value(in_, spec, unit_->format));
  behind_ = in_.position();
  ok_ = in_.ok();
  return ok_;
}

const Abbrev* EntryCursor::peek() const {
  if (!ok_) return nullptr;
  ByteCursor ahead = in_;
  uint64_t code = uleb128(ahead);
  return code == 0 ? nullptr : unit_->abbrevs->find(code);
}

void EntryCursor::skip_next() {
  const Abbrev* abbrev = ok_ ? unit_->abbrevs->find(uleb128(in_)) : nullptr;
  ok_ = ok_ && in_.ok() && abbrev != nullptr;
  if (!ok_) return;
  if (!abbrev->has_children) {
    skip_values(in_, *unit_, *abbrev);
    ok_ = in_.ok();
    return;
  }
  DwarfEntry sibling;
  for (const AttributeSpec& spec : unit_->abbrevs->specs(*abbrev)) {
    if (spec.name == DW_AT_sibling)
      sibling = entry_of(*unit_, read_value(in_, spec, unit_->format));
    else if (spec.size != Abbrev::kVariable)
      in_.skip(spec.size);
    else
      read_value(in_, spec, unit_->format);
  }
  ok_ = in_.ok();
  if (!ok_) return;
  if (sibling.unit == unit_ && sibling.offset > in_.position())
    return in_.skip(sibling.offset - in_.position());
  skip_list();
}

void EntryCursor::skip_children() {
  if (!has_children_ || !ok_) return;
  has_children_ = false;
  DwarfEntry sibling = reference(DW_AT_sibling);
  if (sibling.unit == unit_ && sibling.offset > in_.position())
    return in_.skip(sibling.offset - in_.position());
  skip_list();
}

/// To the position after the end of a list of children.
void EntryCursor::skip_list() {
  for (size_t depth = 1; depth > 0 && in_.ok();) {
    uint64_t code = uleb128(in_);
    if (code == 0) {
      --depth;
      continue;
    }
    const Abbrev* abbrev = unit_->abbrevs->find(code);
    if (abbrev == nullptr) break;
    skip_values(in_, *unit_, *abbrev);
    if (abbrev->has_children) ++depth;
  }
  ok_ = in_.ok();
}

DwarfValue EntryCursor::value(uint16_t name) const {
  for (const auto& [at, value] : values_)
    if (at == name) return value;
  return {};
}

std::optional<uint64_t> EntryCursor::number(uint16_t name) const {
  DwarfValue found = value(name);
  switch (found.form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_implicit_const:
    case DW_FORM_flag:
      return found.number;
    case DW_FORM_flag_present:
      return 1;
    default:
      return std::nullopt;
  }
}

}  // namespace sonde
