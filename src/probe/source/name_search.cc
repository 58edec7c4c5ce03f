#include "probe/source/name_search.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "base/parallel.h"

namespace sonde {
namespace {

/// With more places than this in the strings, random matches would be everywhere.
constexpr size_t kMaxOffsets = 4096;

/// Where `name` is in a table of strings, as a whole one or the end of one (linkers share ends), or
/// before template arguments.
void find_offsets(std::string_view strings, std::string_view name, std::vector<uint32_t>& out) {
  const char* const begin = strings.data();
  const char* const end = begin + strings.size();
  const void* found = ::memmem(begin, strings.size(), name.data(), name.size());
  while (found != nullptr) {
    const char* at = static_cast<const char*>(found);
    const char* after = at + name.size();
    if (after < end && (*after == '\0' || *after == '<'))
      out.push_back(static_cast<uint32_t>(at - begin));
    if (out.size() > kMaxOffsets) return;
    // Matches may overlap: "aa" is at the end of "aaa".
    found = ::memmem(at + 1, static_cast<size_t>(end - at - 1), name.data(), name.size());
  }
}

/// A set of 32-bit numbers that is asked for the number at each byte of a large section.
class OffsetSet {
 public:
  explicit OffsetSet(std::vector<uint32_t> offsets) : offsets_(std::move(offsets)) {
    std::ranges::sort(offsets_);
    for (uint32_t offset : offsets_) maybe_[low(offset)] = 1;
  }
  [[nodiscard]] bool contains(uint32_t value) const {
    return maybe_[low(value)] != 0 && std::ranges::binary_search(offsets_, value);
  }
  static constexpr size_t kNowhere = SIZE_MAX;
  /// Where the first of them at or after `from` begins.
  [[nodiscard]] size_t find_in(Bytes bytes, size_t from, ByteOrder order) const {
    if (offsets_.size() <= kFew && order == kHostOrder) from = skip_to_few(bytes, from);
    for (size_t i = from; i + 4 <= bytes.size(); ++i)
      if (contains(load<uint32_t>(bytes.data() + i, order))) return i;
    return kNowhere;
  }
  [[nodiscard]] bool empty() const { return offsets_.empty(); }

 private:
  static constexpr size_t kFew = 8;
  /// Four numbers at once, wherever they begin.
  using Four [[gnu::vector_size(16), gnu::may_alias]] = uint32_t;

  static constexpr size_t low(uint32_t value) { return value & 0xffff; }

  /// The start of the first sixteen bytes with any of them, or of the rest.
  [[nodiscard]] size_t skip_to_few(Bytes bytes, size_t at) const {
    constexpr size_t kStep = 16, kSpan = kStep + 3;
    for (; at + kSpan <= bytes.size(); at += kStep) {
      Four hits = {};
      for (size_t shift = 0; shift < 4; ++shift) {
        Four values;
        std::memcpy(&values, bytes.data() + at + shift, sizeof values);
        for (uint32_t offset : offsets_) hits |= (values == offset);
      }
      std::array<uint64_t, 2> any;
      std::memcpy(&any, &hits, sizeof any);
      if ((any[0] | any[1]) != 0) break;
    }
    return at;
  }

  std::vector<uint32_t> offsets_;
  std::vector<uint8_t> maybe_ = std::vector<uint8_t>(0x10000);
};

/// The beginnings of entries of functions, up to their name: of one whose name is at a place, the
/// abbreviation's code is a known distance before.
class FunctionHeads {
 public:
  explicit FunctionHeads(const DwarfUnit& unit) : unit_(unit) {
    // A definition may leave its name to a declaration.
    bool may_be_declared = std::ranges::any_of(unit.abbrevs->all(), [&](const Abbrev& abbrev) {
      return abbrev.tag == DW_TAG_subprogram && has(abbrev, DW_AT_specification);
    });
    for (const Abbrev& abbrev : unit.abbrevs->all()) {
      if (abbrev.tag != DW_TAG_subprogram) continue;
      if (!may_be_declared && has(abbrev, DW_AT_declaration)) continue;
      add(abbrev);
    }
  }

  /// Whether a reference to a name at this offset of the section may be a function's.
  [[nodiscard]] bool may_name(std::string_view info, uint64_t at) const {
    if (is_unknown_) return true;
    return std::ranges::any_of(heads_, [&](const Head& head) {
      uint64_t length = head.distance + head.code.size();
      return at >= unit_.entries + length &&
             info.substr(at - length, head.code.size()) == head.code;
    });
  }

 private:
  struct Head {
    std::string code;  // as it is in the entry
    uint64_t distance;
  };

  [[nodiscard]] bool has(const Abbrev& abbrev, uint16_t name) const {
    return std::ranges::any_of(unit_.abbrevs->specs(abbrev),
                               [&](const AttributeSpec& spec) { return spec.name == name; });
  }

  void add(const Abbrev& abbrev) {
    uint64_t distance = 0;
    for (const AttributeSpec& spec : unit_.abbrevs->specs(abbrev)) {
      bool is_name = spec.name == DW_AT_name || spec.name == DW_AT_linkage_name ||
                     spec.name == DW_AT_MIPS_linkage_name;
      if (is_name) heads_.push_back({code_of(abbrev.code), distance});
      uint32_t size = fixed_form_size(spec.form, unit_.format);
      if (size == Abbrev::kVariable) {
        // A later name would be anywhere.
        is_unknown_ |= !is_last_name(abbrev, spec);
        return;
      }
      distance += size;
    }
  }

  /// Whether no name follows a value.
  [[nodiscard]] bool is_last_name(const Abbrev& abbrev, const AttributeSpec& value) const {
    bool is_after = false;
    for (const AttributeSpec& spec : unit_.abbrevs->specs(abbrev)) {
      bool is_name = spec.name == DW_AT_name || spec.name == DW_AT_linkage_name ||
                     spec.name == DW_AT_MIPS_linkage_name;
      if (is_after && is_name) return false;
      is_after |= &spec == &value;
    }
    return true;
  }

  static std::string code_of(uint64_t number) {
    std::string bytes;
    do {
      auto low = static_cast<uint8_t>(number & 0x7f);
      number >>= 7;
      bytes += static_cast<char>(number != 0 ? low | 0x80 : low);
    } while (number != 0);
    return bytes;
  }

  const DwarfUnit& unit_;
  std::vector<Head> heads_;
  bool is_unknown_ = false;
};

/// Whether the names of a unit's functions are all in its entries. Some compilers have no table of
/// strings, and none needs one for short names.
bool has_names_in_entries(const DwarfUnit& unit) {
  return std::ranges::none_of(unit.abbrevs->all(), [&](const Abbrev& abbrev) {
    return abbrev.tag == DW_TAG_subprogram &&
           std::ranges::any_of(unit.abbrevs->specs(abbrev), [](const AttributeSpec& spec) {
             return spec.name == DW_AT_name && spec.form != DW_FORM_string;
           });
  });
}

bool has_indirect_names(const DwarfUnit& unit) {
  return unit.str_offsets_base.has_value();
}

}  // namespace

NameSearch::NameSearch(const DwarfFile& file, std::string_view name) : file_(file) {
  const std::vector<DwarfUnit>& units = file.units();
  std::vector<uint32_t> offsets;
  find_offsets(as_text(file.section(DwarfSection::kStr)), name, offsets);
  // What several units share was moved to units of its own: names, too.
  bool is_shared =
      file.supplement() != nullptr || std::ranges::any_of(units, [](const DwarfUnit& unit) {
        return unit.tag == DW_TAG_partial_unit;
      });
  is_anywhere_ = is_shared || offsets.size() > kMaxOffsets || name.empty();
  if (is_anywhere_) return;
  OffsetSet set(std::move(offsets));
  hit_.resize(units.size());
  Bytes indirect = file.section(DwarfSection::kStrOffsets);
  std::string_view info = as_text(file.section(DwarfSection::kInfo));
  // Beside a table of strings, only names that are not longer than a reference are in entries.
  bool is_short = name.size() < 8;
  parallel_for(units.size(), [&](size_t i) {
    const DwarfUnit& unit = units[i];
    bool is_whole = unit.dwo_name.empty() && !unit.name.starts_with('<') && unit.abbrevs != nullptr;
    if (!is_whole || unit.end > info.size()) {
      hit_[i] = 1;
      return;
    }
    std::string_view bytes = info.substr(unit.entries, unit.end - unit.entries);
    if ((is_short || has_names_in_entries(unit)) && bytes.contains(name)) hit_[i] = 1;
    if (hit_[i] != 0 || set.empty()) return;
    if (has_indirect_names(unit)) {
      uint64_t base = *unit.str_offsets_base;
      // The length of a unit's share is in front of it (DWARF 5, section 7.26).
      uint64_t header = unit.format.offset_size == 8 ? 12 : 8;
      if (unit.format.offset_size == 8 || base < header || base > indirect.size()) {
        hit_[i] = 1;
        return;
      }
      uint64_t length = load<uint32_t>(indirect.data() + base - header, file.order());
      Bytes share = indirect.subspan(base);
      share = share.first(std::min<size_t>(share.size(), length));
      for (size_t at = 0; at + 4 <= share.size() && hit_[i] == 0; at += 4)
        if (set.contains(load<uint32_t>(share.data() + at, file.order()))) hit_[i] = 1;
      return;
    }
    std::optional<FunctionHeads> heads;
    for (size_t at = 0; hit_[i] == 0; ++at) {
      at = set.find_in(as_bytes(bytes), at, file.order());
      if (at == OffsetSet::kNowhere) break;
      if (!heads) heads.emplace(unit);
      if (heads->may_name(info, unit.entries + at)) hit_[i] = 1;
    }
  });
}

bool NameSearch::may_name(const DwarfUnit& unit) const {
  if (is_anywhere_) return true;
  auto index = static_cast<size_t>(&unit - file_.units().data());
  return index >= hit_.size() || hit_[index] != 0;
}

}  // namespace sonde
