#include "dwarf/dwarf_abbrevs.h"

#include <dwarf.h>

#include <algorithm>

#include "elf/leb128.h"

namespace sonde {

uint32_t fixed_form_size(uint16_t form, DwarfFormat format) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return format.address_size;
    case DW_FORM_ref_addr:
      return format.version <= 2 ? format.address_size : format.offset_size;
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
      return format.offset_size;
    default:
      return Abbrev::kVariable;
  }
}

namespace {

/// Reads one abbreviation, its attributes to the end of `specs`. False at the end of the table, and
/// at the first invalid byte.
bool read_abbrev(ByteCursor& in, DwarfFormat format, Abbrev& abbrev,
                 std::vector<AttributeSpec>& specs) {
  abbrev.code = uleb128(in);
  if (abbrev.code == 0 || !in.ok()) return false;
  abbrev.tag = static_cast<uint16_t>(uleb128(in));
  abbrev.has_children = in.u8() != 0;
  abbrev.first_spec = static_cast<uint32_t>(specs.size());
  abbrev.size = 0;
  while (in.ok()) {
    AttributeSpec spec;
    spec.name = static_cast<uint16_t>(uleb128(in));
    spec.form = static_cast<uint16_t>(uleb128(in));
    if (spec.form == DW_FORM_implicit_const) spec.implicit = sleb128(in);
    if (spec.name == 0 && spec.form == 0) break;
    spec.size = fixed_form_size(spec.form, format);
    abbrev.size = spec.size == Abbrev::kVariable || abbrev.size == Abbrev::kVariable
                      ? Abbrev::kVariable
                      : abbrev.size + spec.size;
    specs.push_back(spec);
  }
  abbrev.spec_count = static_cast<uint32_t>(specs.size()) - abbrev.first_spec;
  return in.ok();
}

/// Moves past attributes as long as their numbers have one byte, as nearly all have. True after the
/// last one.
bool skip_short_attributes(ByteCursor& in) {
  Bytes left = ByteCursor(in).rest();
  auto byte_at = [&](size_t at) { return static_cast<uint8_t>(left[at]); };
  size_t at = 0;
  bool is_end = false;
  while (!is_end && left.size() - at >= 3) {
    uint8_t name = byte_at(at), form = byte_at(at + 1);
    bool has_value = form == DW_FORM_implicit_const;
    uint8_t value = has_value ? byte_at(at + 2) : 0;
    if (((name | form | value) & 0x80) != 0) break;
    is_end = (name | form) == 0;
    at += has_value ? 3 : 2;
  }
  in.skip(at);
  return is_end;
}

/// Moves past one whose code was read.
void skip_abbrev(ByteCursor& in) {
  uleb128(in);
  in.u8();
  while (in.ok() && !skip_short_attributes(in)) {
    uint64_t name = uleb128(in), form = uleb128(in);
    if (form == DW_FORM_implicit_const) uleb128(in);
    if ((name | form) == 0) break;
  }
}

}  // namespace

void AbbrevTable::read() const {
  std::scoped_lock lock(mutex_);
  if (is_read_.load(std::memory_order_relaxed)) return;
  if (!budget_.is_spent()) {
    ByteCursor in(bytes_, order_);
    bool in_order = true;
    for (Abbrev abbrev; read_abbrev(in, format_, abbrev, specs_); abbrevs_.push_back(abbrev))
      in_order &= abbrevs_.empty() || abbrevs_.back().code < abbrev.code;
    if (!in_order) std::ranges::stable_sort(abbrevs_, {}, &Abbrev::code);
    budget_.spend(in.position());
  }
  is_read_.store(true, std::memory_order_release);
}

std::optional<LoneAbbrev> AbbrevTable::find_alone(uint64_t code) const {
  if (budget_.is_spent()) return std::nullopt;
  ByteCursor in(bytes_, order_);
  std::optional<LoneAbbrev> found;
  for (ByteCursor start = in; !found; start = in) {
    uint64_t next = uleb128(in);
    if (next == 0 || !in.ok()) break;
    if (next != code) {
      skip_abbrev(in);
      continue;
    }
    found.emplace();
    in = start;
    if (read_abbrev(in, format_, found->abbrev, found->specs)) break;
    found.reset();
    break;
  }
  budget_.spend(in.position());
  return found;
}

const Abbrev* AbbrevTable::find(uint64_t code) const {
  settle();
  // Compilers number from 1 without gaps.
  if (code - 1 < abbrevs_.size() && abbrevs_[code - 1].code == code) return &abbrevs_[code - 1];
  auto found = std::ranges::lower_bound(abbrevs_, code, {}, &Abbrev::code);
  return found != abbrevs_.end() && found->code == code ? &*found : nullptr;
}

}  // namespace sonde
