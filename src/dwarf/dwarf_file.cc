#include "dwarf/dwarf_file.h"

#include <dwarf.h>
#include <elf.h>

#include <algorithm>

#include "base/parallel.h"
#include "dwarf/unit_table.h"
#include "elf/compressed_section.h"
#include "elf/leb128.h"
#include "elf/relocatable.h"

namespace sonde {
namespace {

constexpr size_t kSections = static_cast<size_t>(DwarfSection::kCount);
constexpr std::array<const char*, kSections> kSectionNames = {
    "info", "abbrev", "line",     "str", "line_str", "str_offsets",
    "addr", "ranges", "rnglists", "loc", "loclists", "types"};

uint64_t read_offset(ByteCursor& in, uint8_t offset_size) {
  return offset_size == 8 ? in.u64() : in.u32();
}

uint64_t read_number(ByteCursor& in, uint32_t size) {
  switch (size) {
    case 1:
      return in.u8();
    case 2:
      return in.u16();
    case 3: {
      uint64_t first = in.u8(), second = in.u8(), third = in.u8();
      return in.order() == ByteOrder::kLittle ? first | second << 8 | third << 16
                                              : first << 16 | second << 8 | third;
    }
    case 4:
      return in.u32();
    case 8:
      return in.u64();
    default:
      in.skip(size);
      return 0;
  }
}

/// unit_length: 32-bit DWARF, or 64-bit after an escape value.
uint64_t read_length(ByteCursor& in, DwarfFormat& format) {
  uint64_t length = in.u32();
  format.offset_size = length == 0xffffffff ? 8 : 4;
  return format.offset_size == 8 ? in.u64() : length;
}

bool read_header(ByteCursor& in, DwarfUnit& unit) {
  unit.offset = in.position();
  uint64_t length = read_length(in, unit.format);
  if (!in.ok() || length > in.left()) return false;
  unit.end = in.position() + length;
  unit.format.version = in.u16();
  if (unit.format.version >= 5) {
    unit.type = in.u8();
    unit.format.address_size = in.u8();
    unit.abbrev_offset = read_offset(in, unit.format.offset_size);
    if (unit.type == DW_UT_skeleton || unit.type == DW_UT_split_compile) unit.dwo_id = in.u64();
  } else {
    unit.abbrev_offset = read_offset(in, unit.format.offset_size);
    unit.format.address_size = in.u8();
  }
  bool is_type = unit.type == DW_UT_type || unit.type == DW_UT_split_type;
  if (is_type || unit.section == DwarfSection::kTypes) {
    unit.signature = in.u64();
    unit.type_offset = read_offset(in, unit.format.offset_size);
  }
  unit.entries = in.position();
  return in.ok();
}

}  // namespace

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(ElfFile elf, Kind kind,
                                                   std::unique_ptr<DwarfFile> supplement,
                                                   const UnitTable* known) {
  std::unique_ptr<DwarfFile> file(new DwarfFile(std::move(elf), kind));
  file->supplement_ = std::move(supplement);
  file->load_sections();
  if (file->section(DwarfSection::kInfo).empty())
    return fail(ErrorCode::kNotFound, "{} has no debug information", file->elf_.name());
  file->abbrev_budget_.set(4 * file->section(DwarfSection::kAbbrev).size());
  if (known == nullptr || !file->take_units(*known)) file->read_units();
  file->note_signatures();
  return file;
}

void DwarfFile::load_sections() {
  std::optional<RelocatableFile> relocatable;
  if (elf_.type() == ET_REL && kind_ == Kind::kWhole) relocatable.emplace(elf_);
  auto load = [&, this](size_t i) {
    std::string suffix = kSectionNames[i];
    if (kind_ == Kind::kSplit) suffix += ".dwo";
    load_section(i, suffix, relocatable ? &*relocatable : nullptr);
  };
  bool has_work =
      relocatable || std::ranges::any_of(elf_.sections(), [](const ElfSection& section) {
        return (section.flags & SHF_COMPRESSED) != 0 || section.name.starts_with(".z");
      });
  if (has_work) return parallel_for(kSections, load);
  for (size_t i = 0; i < kSections; ++i) load(i);
}

/// Before linking, a file has one section per type unit: these are concatenated.
void DwarfFile::load_section(size_t which, const std::string& suffix,
                             const RelocatableFile* relocatable) {
  bool may_repeat = which == static_cast<size_t>(DwarfSection::kInfo) ||
                    which == static_cast<size_t>(DwarfSection::kTypes);
  std::string plain = ".debug_" + suffix, packed = ".zdebug_" + suffix;
  std::vector<std::byte>& joined = expanded_[which];
  uint64_t taken = 0;
  for (const ElfSection& section : elf_.sections()) {
    bool is_packed = section.name == packed;
    if (!is_packed && section.name != plain) continue;
    if (!sections_[which].empty() && !may_repeat) return;
    std::vector<std::byte> own;
    Bytes content = elf_.content(section);
    taken += content.size();
    if (taken > elf_.bytes().size()) return;  // several sections that show the same bytes
    if (is_packed || (section.flags & SHF_COMPRESSED) != 0) {
      auto expanded =
          is_packed ? expanded_gnu_content(elf_, section) : expanded_content(elf_, section);
      if (!expanded) continue;
      own = std::move(*expanded);
    } else if (relocatable != nullptr) {
      own.assign(content.begin(), content.end());
    }
    if (relocatable != nullptr) relocatable->apply(section, own);
    if (sections_[which].empty()) {
      joined = std::move(own);
      sections_[which] = joined.empty() ? content : Bytes(joined);
      continue;
    }
    if (joined.empty()) joined.assign(sections_[which].begin(), sections_[which].end());
    Bytes more = own.empty() ? content : Bytes(own);
    joined.insert(joined.end(), more.begin(), more.end());
    sections_[which] = joined;
  }
}

void DwarfFile::read_headers(DwarfSection section, std::vector<DwarfUnit>& units) {
  ByteCursor in(this->section(section), order());
  while (in.left() > 0) {
    DwarfUnit unit;
    unit.file = this;
    unit.section = section;
    if (!read_header(in, unit) || unit.end < unit.entries) break;
    in.skip(unit.end - in.position());
    uint8_t size = unit.format.address_size;
    bool known = unit.format.version >= 2 && unit.format.version <= 5 && (size == 4 || size == 8);
    if (known) units.push_back(unit);
  }
}

/// An index of a package: which unit has which contribution to which section (DWARF 5, section
/// 7.3.5; version 2 is what GCC and gold used earlier).
struct DwarfFile::PackageIndex {
  const char* name;
  bool of_types;
  uint32_t column;  // of the section that has the units
  std::vector<DwarfUnit>* units;
};

void DwarfFile::read_units() {
  read_headers(DwarfSection::kInfo, units_);
  read_headers(DwarfSection::kTypes, types_);
  if (kind_ == Kind::kWhole) {
    read_roots(units_);
    read_roots(types_);
    return;
  }
  constexpr uint32_t kInInfo = 1, kInTypes = 2;  // DW_SECT_INFO, DW_SECT_TYPES
  read_package_index({".debug_cu_index", false, kInInfo, &units_});
  read_package_index({".debug_tu_index", true, kInInfo, &units_});
  read_package_index({".debug_tu_index", true, kInTypes, &types_});
}

bool DwarfFile::take_units(const UnitTable& known) {
  auto units = known.units_of(*this);
  if (!units) return false;
  units_ = std::move(units->info);
  types_ = std::move(units->types);
  for (std::vector<DwarfUnit>* list : {&units_, &types_})
    for (DwarfUnit& unit : *list) unit.abbrevs = abbrevs_of(unit).table;
  return true;
}

void DwarfFile::note_signatures() {
  for (std::vector<DwarfUnit>* list : {&units_, &types_})
    for (DwarfUnit& unit : *list)
      if (unit.signature) signatures_.emplace_back(*unit.signature, &unit);
  std::ranges::sort(signatures_);
}

void DwarfFile::read_roots(std::vector<DwarfUnit>& units) {
  constexpr size_t kBatch = 32;  // of which each is a fraction of a millisecond
  parallel_jobs((units.size() + kBatch - 1) / kBatch, [&, this](size_t batch) {
    size_t end = std::min(units.size(), (batch + 1) * kBatch);
    for (size_t i = batch * kBatch; i < end; ++i) read_root(units[i]);
  });
}

void DwarfFile::read_type_roots() {
  parallel_for(signatures_.size(), [this](size_t i) { read_root(*signatures_[i].second); });
}

void DwarfFile::read_package_index(const PackageIndex& which) {
  const ElfSection* index = elf_.section(which.name);
  if (index == nullptr) return;
  ByteCursor in(elf_.content(*index), order());
  in.u32();  // the version; the columns describe themselves
  uint32_t columns = in.u32(), rows = in.u32(), slots = in.u32();
  if (!in.fits(slots, 12) || columns == 0 || columns > 16 || !in.fits(rows, size_t{columns} * 8))
    return;
  ByteCursor ids(in.take(uint64_t{slots} * 8), order());
  ByteCursor numbers(in.take(uint64_t{slots} * 4), order());
  std::vector<uint64_t> signatures(size_t{rows} + 1);
  for (uint32_t i = 0; i < slots; ++i) {
    uint64_t id = ids.u64();
    if (uint32_t row = numbers.u32(); row > 0 && row <= rows) signatures[row] = id;
  }
  std::vector<uint32_t> kinds(columns);
  for (uint32_t& kind : kinds) kind = in.u32();
  for (uint32_t row = 1; row <= rows && in.ok(); ++row) {
    std::array<uint64_t, 16> share{};  // by DW_SECT_*
    bool has_units = false;
    for (uint32_t kind : kinds) {
      uint32_t offset = in.u32();
      if (kind < share.size()) share[kind] = offset;
      has_units |= kind == which.column;
    }
    constexpr uint32_t kAbbrev = 3, kLine = 4, kLoclists = 5, kStrOffsets = 6, kRnglists = 8;
    auto unit = std::ranges::lower_bound(*which.units, share[which.column], {}, &DwarfUnit::offset);
    if (!has_units || unit == which.units->end() || unit->offset != share[which.column]) continue;
    if (unit->signature.has_value() != which.of_types) continue;
    if (!which.of_types) unit->dwo_id = signatures[row];
    unit->abbrev_offset += share[kAbbrev];
    unit->line_share = share[kLine];
    unit->str_offsets_share = share[kStrOffsets];
    if (unit->format.version < 5) continue;
    unit->rnglists_share = share[kRnglists];
    unit->loclists_share = share[kLoclists];
  }
}

const DwarfUnit* DwarfFile::unit_at(uint64_t info_offset) const {
  auto above = std::ranges::upper_bound(units_, info_offset, {}, &DwarfUnit::offset);
  if (above == units_.begin()) return nullptr;
  const DwarfUnit& unit = *std::prev(above);
  return info_offset >= unit.entries && info_offset < unit.end ? &unit : nullptr;
}

DwarfEntry DwarfFile::type_with(uint64_t signature) const {
  auto found = std::ranges::lower_bound(signatures_, signature, {},
                                        [](const auto& one) -> uint64_t { return one.first; });
  if (found == signatures_.end() || found->first != signature) return {};
  const DwarfUnit& unit = *found->second;
  uint64_t offset = unit.offset + unit.type_offset;
  bool inside = offset >= unit.entries && offset < unit.end;
  return inside ? DwarfEntry{&unit, offset} : DwarfEntry();
}

DwarfFile::UnitAbbrevs DwarfFile::abbrevs_of(const DwarfUnit& unit) const {
  Bytes all = section(DwarfSection::kAbbrev);
  if (unit.abbrev_offset >= all.size()) return {};
  uint32_t form_sizes = uint32_t{unit.format.version} << 16 |
                        uint32_t{unit.format.address_size} << 8 | unit.format.offset_size;
  std::scoped_lock lock(mutex_);
  auto& table = abbrevs_[{unit.abbrev_offset, form_sizes}];
  bool is_new = table == nullptr;
  if (is_new)
    table = std::make_unique<AbbrevTable>(all.subspan(unit.abbrev_offset), order(), unit.format,
                                          abbrev_budget_);
  return {table.get(), !is_new};
}

void DwarfFile::read_root(DwarfUnit& unit) const {
  auto [table, is_shared] = abbrevs_of(unit);
  if (table == nullptr) return;
  ByteCursor in(section(unit.section).first(unit.end), order());
  in.skip(unit.entries);
  uint64_t code = uleb128(in);
  std::optional<LoneAbbrev> alone;
  const Abbrev* root = nullptr;
  std::span<const AttributeSpec> specs;
  // What several units share is read once.
  if (is_shared) {
    root = table->find(code);
    if (root != nullptr) specs = table->specs(*root);
  } else if ((alone = table->find_alone(code))) {
    root = &alone->abbrev;
    specs = alone->specs;
  }
  if (root == nullptr) return;
  unit.tag = root->tag;
  // Bases may come after the values that need them.
  DwarfValue low, high, name, directory, dwo_name;
  for (const AttributeSpec& spec : specs) {
    DwarfValue value = read_value(in, spec, unit.format);
    switch (spec.name) {
      case DW_AT_low_pc:
        low = value;
        break;
      case DW_AT_high_pc:
        high = value;
        break;
      case DW_AT_ranges:
        unit.ranges = value;
        break;
      case DW_AT_name:
        name = value;
        break;
      case DW_AT_comp_dir:
        directory = value;
        break;
      case DW_AT_dwo_name:
      case DW_AT_GNU_dwo_name:
        dwo_name = value;
        break;
      case DW_AT_GNU_dwo_id:
        unit.dwo_id = value.number;
        break;
      case DW_AT_stmt_list:
        unit.line_offset = value.number + unit.line_share;
        break;
      case DW_AT_str_offsets_base:
        unit.str_offsets_base = value.number;
        break;
      case DW_AT_addr_base:
      case DW_AT_GNU_addr_base:
        unit.addr_base = value.number;
        break;
      case DW_AT_rnglists_base:
        unit.rnglists_base = value.number;
        break;
      case DW_AT_loclists_base:
        unit.loclists_base = value.number;
        break;
      case DW_AT_GNU_ranges_base:
        unit.ranges_base = value.number;
        break;
      default:
        break;
    }
  }
  if (!in.ok()) return;
  unit.abbrevs = table;
  unit.name = text_of(unit, name);
  unit.directory = text_of(unit, directory);
  unit.dwo_name = text_of(unit, dwo_name);
  unit.low_pc =
      address_of(unit, low).value_or(unit.skeleton != nullptr ? unit.skeleton->low_pc : 0);
  if (high)
    unit.high_pc = is_address_form(high.form) ? address_of(unit, high) : unit.low_pc + high.number;
}

std::string_view DwarfFile::string_at(DwarfSection section, uint64_t offset) const {
  Bytes all = this->section(section);
  if (offset >= all.size()) return {};
  std::string_view text = as_text(all.subspan(offset));
  size_t end = text.find('\0');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

bool is_address_form(uint16_t form) {
  switch (form) {
    case DW_FORM_addr:
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
      return true;
    default:
      return false;
  }
}

DwarfValue read_value(ByteCursor& in, const AttributeSpec& spec, DwarfFormat format) {
  DwarfValue value{spec.form, 0, {}};
  if (value.form == DW_FORM_indirect) {
    value.form = static_cast<uint16_t>(uleb128(in));
    if (value.form == DW_FORM_indirect || value.form == DW_FORM_implicit_const) in.skip(UINT64_MAX);
  }
  if (value.form == DW_FORM_implicit_const) {
    value.number = static_cast<uint64_t>(spec.implicit);
    return value;
  }
  bool is_sized = spec.size != Abbrev::kVariable;
  uint32_t size = is_sized ? spec.size : fixed_form_size(value.form, format);
  if (size != Abbrev::kVariable) {
    value.number = read_number(in, size);
    return value;
  }
  switch (value.form) {
    case DW_FORM_string: {
      std::string_view left = as_text(ByteCursor(in).rest());
      size_t end = left.find('\0');
      value.bytes = in.take(end == std::string_view::npos ? UINT64_MAX : end);
      in.skip(1);
      break;
    }
    case DW_FORM_sdata:
      value.number = static_cast<uint64_t>(sleb128(in));
      break;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      value.number = uleb128(in);
      break;
    case DW_FORM_block1:
      value.bytes = in.take(in.u8());
      break;
    case DW_FORM_block2:
      value.bytes = in.take(in.u16());
      break;
    case DW_FORM_block4:
      value.bytes = in.take(in.u32());
      break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      value.bytes = in.take(uleb128(in));
      break;
    default:
      in.skip(UINT64_MAX);  // what follows an unknown form cannot be found
      break;
  }
  return value;
}

void skip_values(ByteCursor& in, const DwarfUnit& unit, const Abbrev& abbrev) {
  if (abbrev.size != Abbrev::kVariable) return in.skip(abbrev.size);
  for (const AttributeSpec& spec : unit.abbrevs->specs(abbrev)) {
    if (spec.size != Abbrev::kVariable)
      in.skip(spec.size);
    else
      read_value(in, spec, unit.format);
  }
}

std::optional<uint64_t> address_of(const DwarfUnit& unit, const DwarfValue& value) {
  if (value.form == DW_FORM_addr) return value.number;
  if (!is_address_form(value.form)) return std::nullopt;
  const DwarfUnit& holder = unit.skeleton != nullptr ? *unit.skeleton : unit;
  ByteCursor in(holder.file->section(DwarfSection::kAddr), holder.file->order());
  uint8_t size = holder.format.address_size;
  if (value.number > UINT32_MAX) return std::nullopt;
  in.skip(holder.addr_base.value_or(holder.format.version >= 5 ? 8 : 0));
  in.skip(value.number * size);
  uint64_t address = read_number(in, size);
  return in.ok() ? std::optional(address) : std::nullopt;
}

std::string_view text_of(const DwarfUnit& unit, const DwarfValue& value) {
  const DwarfFile& file = *unit.file;
  switch (value.form) {
    case DW_FORM_string:
      return as_text(value.bytes);
    case DW_FORM_strp:
      return file.string_at(DwarfSection::kStr, value.number);
    case DW_FORM_line_strp:
      return file.string_at(DwarfSection::kLineStr, value.number);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return file.supplement() == nullptr
                 ? std::string_view()
                 : file.supplement()->string_at(DwarfSection::kStr, value.number);
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index: {
      if (value.number > UINT32_MAX) return {};
      // A split unit has its own table and no base: the base is right after the table's header.
      uint64_t header = unit.format.version < 5 ? 0 : unit.format.offset_size == 8 ? 16 : 8;
      ByteCursor in(file.section(DwarfSection::kStrOffsets), file.order());
      in.skip(unit.str_offsets_share);
      in.skip(unit.str_offsets_base.value_or(header));
      in.skip(value.number * unit.format.offset_size);
      uint64_t offset = read_offset(in, unit.format.offset_size);
      return in.ok() ? file.string_at(DwarfSection::kStr, offset) : std::string_view();
    }
    default:
      return {};
  }
}

DwarfEntry entry_of(const DwarfUnit& unit, const DwarfValue& value) {
  switch (value.form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata: {
      uint64_t offset = unit.offset + value.number;
      bool inside = offset >= unit.entries && offset < unit.end;
      return inside ? DwarfEntry{&unit, offset} : DwarfEntry();
    }
    case DW_FORM_ref_addr:
      return {unit.file->unit_at(value.number), value.number};
    case DW_FORM_ref_sig8:
      return unit.file->type_with(value.number);
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_GNU_ref_alt: {
      const DwarfFile* supplement = unit.file->supplement();
      return {supplement == nullptr ? nullptr : supplement->unit_at(value.number), value.number};
    }
    default:
      return {};
  }
}

}  // namespace sonde
