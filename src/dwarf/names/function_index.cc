#include "dwarf/names/function_index.h"

#include <dwarf.h>
#include <xxhash.h>

#include <algorithm>

#include "base/parallel.h"
#include "dwarf/entry_cursor.h"
#include "dwarf/packed_table.h"
#include "dwarf/unit_code.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

constexpr int kMaxNameHops = 16;
/// Names of a unit take a few times its own size; in a damaged file, reading them must end.
constexpr uint64_t kMaxNameGrowth = 64;
/// The hash that a unit has of which nothing is known.
constexpr uint32_t kAnyName = 0;

uint32_t hash_of_name(std::string_view name) {
  auto hash = static_cast<uint32_t>(XXH3_64bits(name.data(), name.size()));
  return hash == kAnyName ? 1 : hash;
}

/// A reference within a unit, which needs no table of units to be followed.
bool is_local_reference(uint16_t form) {
  switch (form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
      return true;
    default:
      return false;
  }
}

/// What is to be done with an entry.
enum class EntryUse : uint8_t {
  kPass,         // its children may be functions
  kPassWithAll,  // neither are its children, and it may say where they end
  kRecord,       // its children may be functions if it is in one
  kFunction,
  kInlined,
};

EntryUse use_of(const Abbrev& abbrev, bool is_declaration, RecordCode code_in_records) {
  switch (abbrev.tag) {
    case DW_TAG_subprogram:
      return is_declaration ? EntryUse::kPassWithAll : EntryUse::kFunction;
    case DW_TAG_inlined_subroutine:
      return EntryUse::kInlined;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (code_in_records == RecordCode::kAnywhere) return EntryUse::kPass;
      return code_in_records == RecordCode::kNever ? EntryUse::kPassWithAll : EntryUse::kRecord;
    case DW_TAG_array_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_GNU_formal_parameter_pack:
    case DW_TAG_GNU_template_parameter_pack:
    case DW_TAG_GNU_call_site:
    case DW_TAG_call_site:
      return EntryUse::kPassWithAll;
    default:
      return EntryUse::kPass;
  }
}

/// How entries of one abbreviation are read: most of their values have a fixed size, so that those
/// few that matter are at a known distance.
class EntryPlan {
 public:
  EntryPlan(const DwarfUnit& unit, const Abbrev& abbrev, RecordCode code_in_records)
      : late_(unit.abbrevs->specs(abbrev)) {
    bool is_declaration = false, is_early = true;
    for (const AttributeSpec& spec : unit.abbrevs->specs(abbrev)) {
      is_early &= spec.size != Abbrev::kVariable;
      is_declaration |= spec.name == DW_AT_declaration && spec.form == DW_FORM_flag_present;
      has_other_code_ |= spec.name == DW_AT_ranges || spec.name == DW_AT_entry_pc;
      const AttributeSpec** noted = noted_as(spec.name);
      if (noted != nullptr && is_early) *noted = &spec;
      if (noted != nullptr) distances_[static_cast<size_t>(noted - noted_)] = early_bytes_;
      is_late_ |= noted != nullptr && !is_early;
      if (!is_early) continue;
      early_bytes_ += spec.size;
      late_ = late_.subspan(1);
    }
    use_ = use_of(abbrev, is_declaration, code_in_records);
    bool is_function = use_ == EntryUse::kFunction || use_ == EntryUse::kInlined;
    if (!abbrev.has_children && !is_function) use_ = EntryUse::kPass;
  }

  [[nodiscard]] EntryUse use() const { return use_; }
  [[nodiscard]] bool has_other_code() const { return has_other_code_; }

  /// Moves past the values.
  void pass(ByteCursor& in, DwarfFormat format) const {
    in.skip(early_bytes_);
    for (const AttributeSpec& spec : late_) {
      switch (spec.form) {  // the usual ones
        case DW_FORM_exprloc:
          in.skip(uleb128(in));
          break;
        case DW_FORM_flag_present:
        case DW_FORM_implicit_const:
          break;
        case DW_FORM_ref4:
          in.skip(4);
          break;
        default:
          read_value(in, spec, format);
          break;
      }
    }
  }

  enum Noted : uint8_t { kLow, kOrigin, kSibling, kNotedCount };
  /// Of an entry whose values begin at `in`.
  [[nodiscard]] DwarfValue value(Noted which, ByteCursor in, DwarfFormat format) const {
    if (noted_[which] != nullptr) {
      in.skip(distances_[which]);
      uint16_t form = noted_[which]->form;
      if (form == DW_FORM_ref4) return {form, in.u32(), {}};
      return read_value(in, *noted_[which], format);
    }
    if (is_late_) {
      in.skip(early_bytes_);
      for (const AttributeSpec& spec : late_) {
        DwarfValue value = read_value(in, spec, format);
        if (spec.name == kNames[which]) return value;
      }
    }
    return {};
  }

 private:
  static constexpr uint16_t kNames[kNotedCount] = {DW_AT_low_pc, DW_AT_abstract_origin,
                                                   DW_AT_sibling};

  const AttributeSpec** noted_as(uint16_t name) {
    auto found = std::ranges::find(kNames, name);
    return found == std::end(kNames) ? nullptr : &noted_[found - std::begin(kNames)];
  }

  EntryUse use_ = EntryUse::kPass;
  bool has_other_code_ = false;  // besides that at its low address
  bool is_late_ = false;         // something noted comes after a value of no fixed size
  uint32_t early_bytes_ = 0;     // up to the first value of no fixed size
  uint32_t distances_[kNotedCount] = {};
  const AttributeSpec* noted_[kNotedCount] = {};
  std::span<const AttributeSpec> late_;  // from that value on
};

/// The hashes of the names of one unit.
class UnitNames {
 public:
  explicit UnitNames(const DwarfUnit& unit)
      : unit_(unit),
        is_wanted_((unit.end - unit.entries) / kBits + 1),
        room_((unit.end - unit.offset) * kMaxNameGrowth) {}

  std::vector<uint32_t> read() && {
    if (unit_.abbrevs == nullptr) return {};
    if (!unit_.dwo_name.empty()) return {kAnyName};
    find_entries();
    // Several entries share a name: the copies of one function, overloads, constructors.
    visit_names([this](const DwarfUnit& unit, const DwarfValue& name) {
      // Most are in the one section, where each is once.
      if (name.form == DW_FORM_strp && unit.file == unit_.file)
        strings_.push_back(name.number);
      else
        add_name(text_of(unit, name));
      return !is_too_large_;
    });
    sort_once(strings_);
    for (uint64_t at : strings_) add_name(unit_.file->string_at(DwarfSection::kStr, at));
    if (is_too_large_) return {kAnyName};
    sort_once(hashes_);
    return std::move(hashes_);
  }

  /// Whether read() would find this one. Looking at it alone saves sorting and hashing all of them,
  /// which takes longer than finding them.
  bool has(std::string_view wanted) && {
    if (unit_.abbrevs == nullptr) return false;
    if (!unit_.dwo_name.empty()) return true;
    find_entries();
    bool is_found = false;
    visit_names([&](const DwarfUnit& unit, const DwarfValue& name) {
      is_found = name.form == DW_FORM_strp ? begins_with(*unit.file, name.number, wanted)
                                           : is_meant(text_of(unit, name), wanted);
      return !is_found && !is_too_large_;
    });
    return is_found || is_too_large_;
  }

 private:
  static constexpr size_t kBits = 64;

  template <typename Number>
  static void sort_once(std::vector<Number>& numbers) {
    std::ranges::sort(numbers);
    auto repeated = std::ranges::unique(numbers);
    numbers.erase(repeated.begin(), repeated.end());
  }

  /// One way through all entries, whatever is inside what.
  void find_entries() {
    EntryCursor root(unit_, unit_.entries);
    if (!root.next()) return;
    RecordCode records = code_in_records(root);
    std::span<const Abbrev> abbrevs = unit_.abbrevs->all();
    std::vector<EntryPlan> plans;
    plans.reserve(abbrevs.size());
    for (const Abbrev& abbrev : abbrevs) plans.emplace_back(unit_, abbrev, records);
    ByteCursor in(unit_.file->section(unit_.section).first(unit_.end), unit_.file->order());
    in.skip(unit_.entries);
    uint64_t end_of_function = 0;
    while (in.left() > 0) {
      uint64_t offset = in.position();
      uint64_t code = uleb128(in);
      if (code == 0) continue;
      // Compilers number from 1 without gaps.
      bool is_usual = code - 1 < abbrevs.size() && abbrevs[code - 1].code == code;
      const Abbrev* abbrev = is_usual ? &abbrevs[code - 1] : unit_.abbrevs->find(code);
      if (abbrev == nullptr) break;
      const EntryPlan& plan = plans[static_cast<size_t>(abbrev - abbrevs.data())];
      bool is_passed = plan.use() == EntryUse::kPassWithAll ||
                       (plan.use() == EntryUse::kRecord && offset >= end_of_function);
      if (is_passed) {
        uint64_t behind = end_of(plan, in);
        if (behind > in.position()) {
          in.skip(behind - in.position());
          continue;
        }
      } else if (plan.use() == EntryUse::kFunction) {
        uint64_t behind = end_of(plan, in);
        end_of_function = std::max(end_of_function, behind == 0 ? unit_.end : behind);
        take(plan, in, offset);
      } else if (plan.use() == EntryUse::kInlined) {
        take(plan, in, offset);
      }
      plan.pass(in, unit_.format);
    }
  }

  /// The end of an entry's children; 0 if it does not say.
  [[nodiscard]] uint64_t end_of(const EntryPlan& plan, const ByteCursor& values) const {
    DwarfValue sibling = plan.value(EntryPlan::kSibling, values, unit_.format);
    return sibling ? entry_of(unit_, sibling).offset : 0;
  }

  /// What has no code is not a place for a probe; what was inlined is where its copies are.
  void take(const EntryPlan& plan, const ByteCursor& values, uint64_t offset) {
    if (!plan.has_other_code() && plan.use() == EntryUse::kFunction) {
      DwarfValue low = plan.value(EntryPlan::kLow, values, unit_.format);
      bool is_discarded = low.form == DW_FORM_addr && low.number == 0;  // by the linker
      if (!low || is_discarded) return;
    }
    DwarfValue origin = plan.value(EntryPlan::kOrigin, values, unit_.format);
    if (is_local_reference(origin.form)) offset = entry_of(unit_, origin).offset;
    if (offset < unit_.entries || offset >= unit_.end) return;
    offset -= unit_.entries;
    is_wanted_[offset / kBits] |= uint64_t{1} << offset % kBits;
  }

  /// Calls `visit(unit, value)` for the names of the entries found, until it returns false.
  template <typename Visit>
  void visit_names(const Visit& visit) {
    for (size_t word = 0; word < is_wanted_.size(); ++word)
      for (uint64_t left = is_wanted_[word]; left != 0; left &= left - 1) {
        uint64_t at = word * kBits + static_cast<size_t>(std::countr_zero(left));
        if (!visit_names_of({&unit_, unit_.entries + at}, visit)) return;
      }
  }

  /// The names that an entry has, and those that it refers to.
  template <typename Visit>
  bool visit_names_of(DwarfEntry entry, const Visit& visit) {
    for (int hop = 0; hop < kMaxNameHops && is_readable(entry); ++hop) {
      const DwarfUnit& unit = *entry.unit;
      ByteCursor in(unit.file->section(unit.section).first(unit.end), unit.file->order());
      in.skip(entry.offset);
      const Abbrev* abbrev = unit.abbrevs->find(uleb128(in));
      if (abbrev == nullptr) return true;
      DwarfEntry next;
      for (const AttributeSpec& spec : unit.abbrevs->specs(*abbrev)) {
        DwarfValue value = read_value(in, spec, unit.format);
        switch (spec.name) {
          case DW_AT_name:
          case DW_AT_linkage_name:
          case DW_AT_MIPS_linkage_name:
            if (!visit(unit, value)) return false;
            break;
          case DW_AT_abstract_origin:
          case DW_AT_specification:
            next = entry_of(unit, value);
            break;
          default:
            break;
        }
      }
      entry = next;
    }
    return true;
  }

  /// Compares a string without looking for its end.
  static bool begins_with(const DwarfFile& file, uint64_t at, std::string_view wanted) {
    std::string_view all = as_text(file.section(DwarfSection::kStr));
    if (at >= all.size() || !all.substr(at).starts_with(wanted)) return false;
    std::string_view behind = all.substr(at + wanted.size());
    return !behind.empty() && (behind.front() == '\0' || begins_arguments(behind.front(), wanted));
  }
  /// The first of a name's angle brackets, after the part that was asked for.
  static bool begins_arguments(char behind, std::string_view wanted) {
    return behind == '<' && !wanted.contains('<');
  }

  bool is_meant(std::string_view name, std::string_view wanted) {
    is_too_large_ |= name.size() > room_;
    if (is_too_large_) return false;
    room_ -= name.size();
    if (!name.starts_with(wanted)) return false;
    return name.size() == wanted.size() || begins_arguments(name[wanted.size()], wanted);
  }

  void add_name(std::string_view name) {
    is_too_large_ |= name.size() > room_;
    if (name.empty() || is_too_large_ || !FunctionIndex::has_names_like(name)) return;
    room_ -= name.size();
    hashes_.push_back(hash_of_name(name));
    if (size_t arguments = name.find('<'); arguments != std::string_view::npos)
      hashes_.push_back(hash_of_name(name.substr(0, arguments)));
  }

  const DwarfUnit& unit_;
  std::vector<uint64_t> is_wanted_;  // by entry, a bit for each byte of the unit
  uint64_t room_;                    // for names, in bytes
  bool is_too_large_ = false;
  std::vector<uint64_t> strings_;  // names, by their offset in .debug_str
  std::vector<uint32_t> hashes_;
};

/// `hashes` are sorted.
bool has_name(std::span<const uint32_t> hashes, std::string_view name) {
  bool is_unknown = !hashes.empty() && hashes.front() == kAnyName;
  return is_unknown || std::ranges::binary_search(hashes, hash_of_name(name));
}

/// What the units are: copies of a file with one build id may have been rewritten.
uint64_t fingerprint_of(const DwarfFile& file) {
  std::vector<uint64_t> facts{file.section(DwarfSection::kStr).size()};
  for (const DwarfUnit& unit : file.units())
    facts.insert(facts.end(), {unit.offset, unit.end, unit.abbrev_offset});
  return XXH3_64bits(facts.data(), facts.size() * sizeof facts[0]);
}

}  // namespace

FunctionIndex FunctionIndex::read(const DwarfFile& file) {
  const std::vector<DwarfUnit>& units = file.units();
  std::vector<std::vector<uint32_t>> by_unit(units.size());
  parallel_jobs(units.size(), [&](size_t i) { by_unit[i] = UnitNames(units[i]).read(); });
  FunctionIndex index;
  for (const std::vector<uint32_t>& hashes : by_unit) {
    index.own_starts_.push_back(static_cast<uint32_t>(index.own_hashes_.size()));
    index.own_hashes_.insert(index.own_hashes_.end(), hashes.begin(), hashes.end());
  }
  index.own_starts_.push_back(static_cast<uint32_t>(index.own_hashes_.size()));
  index.starts_ = index.own_starts_;
  index.hashes_ = index.own_hashes_;
  return index;
}

std::vector<std::byte> FunctionIndex::pack(const DwarfFile& file) const {
  TablePacker packer;
  uint64_t fingerprint = fingerprint_of(file);
  packer.put(std::span<const uint64_t>(&fingerprint, 1));
  packer.put(starts_);
  packer.put(hashes_);
  return std::move(packer).finish();
}

std::optional<FunctionIndex> FunctionIndex::restore(Bytes packed, const DwarfFile& file) {
  FunctionIndex index;
  TableReader reader(packed);
  std::span<const uint64_t> fingerprint;
  reader.get(fingerprint);
  reader.get(index.starts_);
  reader.get(index.hashes_);
  bool is_whole =
      reader.ok() && fingerprint.size() == 1 && index.starts_.size() == file.units().size() + 1 &&
      std::ranges::is_sorted(index.starts_) && index.starts_.back() <= index.hashes_.size();
  if (!is_whole || fingerprint[0] != fingerprint_of(file)) return std::nullopt;
  return index;
}

bool FunctionIndex::may_name(size_t unit, std::string_view name) const {
  return has_name(hashes_.subspan(starts_[unit], starts_[unit + 1] - starts_[unit]), name);
}

bool FunctionIndex::may_name(const DwarfUnit& unit, std::string_view name) {
  return UnitNames(unit).has(name);
}

}  // namespace sonde
