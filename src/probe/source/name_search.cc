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

/// Whether `name` is at a place in `text`, whole or before template arguments.
bool is_name_at(std::string_view text, size_t at, std::string_view name) {
  size_t after = at + name.size();
  return after < text.size() && (text[after] == '\0' || text[after] == '<') &&
         text.substr(at, name.size()) == name;
}

/// Whether a text may begin at any of sixteen adjacent places, by three of its characters.
class TextFilter {
 public:
  static constexpr size_t kPlaces = 16;

  /// `text` is not empty.
  explicit TextFilter(std::string_view text)
      : middle_(text.size() / 2), last_(text.size() - 1), characters_{} {
    for (size_t i = 0; i < kCompared; ++i)
      characters_[i] = Lanes{} + static_cast<signed char>(text[place(i)]);
  }
  /// `at` has the places and, behind them, the length of the text.
  [[nodiscard]] bool may_begin_near(const char* at) const {
    Lanes hits = ~Lanes{};
    for (size_t i = 0; i < kCompared; ++i) {
      Lanes values;
      std::memcpy(&values, at + place(i), sizeof values);
      hits &= values == characters_[i];
    }
    std::array<uint64_t, 2> any;
    std::memcpy(&any, &hits, sizeof any);
    return (any[0] | any[1]) != 0;
  }

 private:
  static constexpr size_t kCompared = 3;
  using Lanes [[gnu::vector_size(kPlaces)]] = signed char;

  [[nodiscard]] size_t place(size_t i) const { return i == 0 ? 0 : i == 1 ? middle_ : last_; }

  size_t middle_, last_;
  std::array<Lanes, kCompared> characters_;
};

/// Where it is in a part of a table of strings, be it at the end of one (linkers share ends).
void find_offsets_from(std::string_view strings, size_t from, size_t to, std::string_view name,
                       std::vector<uint32_t>& out) {
  TextFilter filter(name);
  while (from < to && out.size() <= kMaxOffsets) {
    size_t next = std::min(to, from + TextFilter::kPlaces);
    bool is_inside = from + TextFilter::kPlaces + name.size() <= strings.size();
    if (is_inside && !filter.may_begin_near(strings.data() + from)) {
      from = next;
      continue;
    }
    for (; from < next; ++from)
      if (is_name_at(strings, from, name)) out.push_back(static_cast<uint32_t>(from));
  }
}

std::vector<uint32_t> find_offsets(std::string_view strings, std::string_view name) {
  constexpr size_t kPart = size_t{1} << 20;
  std::vector<std::vector<uint32_t>> parts((strings.size() + kPart - 1) / kPart);
  parallel_jobs(parts.size(), [&](size_t i) {
    size_t from = i * kPart;
    find_offsets_from(strings, from, std::min(strings.size(), from + kPart), name, parts[i]);
  });
  std::vector<uint32_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

/// A set of 32-bit numbers that is asked for the number at each byte of a large section.
class OffsetSet {
 public:
  OffsetSet(std::vector<uint32_t> offsets, ByteOrder order)
      : offsets_(std::move(offsets)), order_(order) {
    std::ranges::sort(offsets_);
    for (uint32_t offset : offsets_) maybe_[low(offset)] = 1;
    if (offsets_.size() > kFew) return;
    for (size_t i = 0; i < kFew && !offsets_.empty(); ++i)
      halves_[i] = rarest_half(offsets_[std::min(i, offsets_.size() - 1)]);
  }
  [[nodiscard]] bool contains(uint32_t value) const {
    return maybe_[low(value)] != 0 && std::ranges::binary_search(offsets_, value);
  }
  static constexpr size_t kNowhere = SIZE_MAX;
  /// Where the first of them at or after `from` begins.
  [[nodiscard]] size_t find_in(Bytes bytes, size_t from) const {
    while (from + 4 <= bytes.size()) {
      if (offsets_.size() <= kFew) from = skip_blocks(bytes, from);
      size_t end = offsets_.size() <= kFew ? std::min(from + kBlock, bytes.size()) : bytes.size();
      for (; from < end && from + 4 <= bytes.size(); ++from)
        if (contains(load<uint32_t>(bytes.data() + from, order_))) return from;
    }
    return kNowhere;
  }

 private:
  /// Of that many, two bytes of each are compared with sixteen bytes at once.
  static constexpr size_t kFew = 4;
  static constexpr size_t kBlock = 64;
  using Lanes [[gnu::vector_size(16), gnu::may_alias]] = uint16_t;
  struct Half {
    Lanes value;
    size_t at;  // in the number
  };

  static constexpr size_t low(uint32_t value) { return value & 0xffff; }

  /// Two adjacent bytes of a number: zeros are everywhere.
  [[nodiscard]] Half rarest_half(uint32_t number) const {
    number = load<uint32_t>(reinterpret_cast<const std::byte*>(&number), order_);  // as it is there
    std::array<std::byte, sizeof number> bytes;
    std::memcpy(bytes.data(), &number, sizeof number);
    size_t best = 0, most = 0;
    for (size_t at = 0; at + 2 <= bytes.size(); ++at) {
      size_t weight = (bytes[at] != std::byte{0}) + (bytes[at + 1] != std::byte{0});
      if (weight > most) best = at;
      most = std::max(most, weight);
    }
    return {Lanes{} + load<uint16_t>(bytes.data() + best, kHostOrder), best};
  }

  /// The start of the first block in which any of them may begin, or of the rest.
  [[nodiscard]] size_t skip_blocks(Bytes bytes, size_t at) const {
    size_t distinct = std::max<size_t>(1, offsets_.size());
    for (; at + kBlock + 4 <= bytes.size(); at += kBlock) {
      Lanes hits = {};
      for (size_t i = 0; i < distinct; ++i) hits |= hits_of(halves_[i], bytes.data() + at);
      std::array<uint64_t, 2> any;
      std::memcpy(&any, &hits, sizeof any);
      if ((any[0] | any[1]) != 0) break;
    }
    return at;
  }
  static Lanes hits_of(const Half& half, const std::byte* block) {
    Lanes hits = {};
    for (size_t at = half.at; at < half.at + kBlock; at += sizeof(Lanes))
      for (size_t shift = 0; shift < 2; ++shift) {
        Lanes values;
        std::memcpy(&values, block + at + shift, sizeof values);
        hits |= values == half.value;
      }
    return hits;
  }

  std::vector<uint32_t> offsets_;
  ByteOrder order_;
  std::array<Half, kFew> halves_ = {};
  std::vector<uint8_t> maybe_ = std::vector<uint8_t>(0x10000);
};

namespace {

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
      if (spec.size == Abbrev::kVariable) {
        // A later name would be anywhere.
        is_unknown_ |= !is_last_name(abbrev, spec);
        return;
      }
      distance += spec.size;
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

/// Whether a unit refers to any of the strings by way of its part of .debug_str_offsets (DWARF 5,
/// section 7.26), or may do so.
bool refers_indirectly(const DwarfUnit& unit, const OffsetSet& strings) {
  Bytes indirect = unit.file->section(DwarfSection::kStrOffsets);
  ByteOrder order = unit.file->order();
  uint64_t base = *unit.str_offsets_base;
  constexpr uint64_t kHeader = 8;  // 4 bytes of length, version and padding
  if (unit.format.offset_size == 8 || base < kHeader || base > indirect.size()) return true;
  uint64_t length = load<uint32_t>(indirect.data() + base - kHeader, order);
  Bytes share = indirect.subspan(base);
  share = share.first(std::min<size_t>(share.size(), length));
  for (size_t at = 0; at + 4 <= share.size(); at += 4)
    if (strings.contains(load<uint32_t>(share.data() + at, order))) return true;
  return false;
}

}  // namespace

/// Looks for one name in the bytes of units.
class UnitSearch {
 public:
  UnitSearch(const DwarfFile& file, std::string_view name, std::vector<uint32_t> offsets)
      : info_(as_text(file.section(DwarfSection::kInfo))),
        name_(name),
        order_(file.order()),
        strings_(offsets, file.order()),
        starts_(with_name_itself(std::move(offsets), file.order()), file.order()) {}

  [[nodiscard]] bool may_name(const DwarfUnit& unit) const {
    bool is_whole = unit.dwo_name.empty() && !unit.name.starts_with('<') && unit.abbrevs != nullptr;
    if (!is_whole || unit.end > info_.size()) return true;
    if (unit.str_offsets_base && refers_indirectly(unit, strings_)) return true;
    std::optional<FunctionHeads> heads;
    std::string_view bytes = info_.substr(unit.entries, unit.end - unit.entries);
    if (name_.size() < kStart && bytes.contains(name_)) return true;
    for (size_t at = 0;; ++at) {
      at = starts_.find_in(as_bytes(bytes), at);
      if (at == OffsetSet::kNowhere) return false;
      if (is_name_at(bytes, at, name_)) return true;
      if (!strings_.contains(load<uint32_t>(as_bytes(bytes).data() + at, order_))) continue;
      if (!heads) heads.emplace(unit);
      if (heads->may_name(info_, unit.entries + at)) return true;
    }
  }

 private:
  static constexpr size_t kStart = sizeof(uint32_t);

  /// Short names are in the entries themselves, and so are all of those of some compilers.
  [[nodiscard]] std::vector<uint32_t> with_name_itself(std::vector<uint32_t> offsets,
                                                       ByteOrder order) const {
    if (name_.size() >= kStart) offsets.push_back(load<uint32_t>(as_bytes(name_).data(), order));
    return offsets;
  }

  std::string_view info_;
  std::string name_;
  ByteOrder order_;
  OffsetSet strings_;
  OffsetSet starts_;  // of what is looked for in entries: references to strings, and the name
};

NameSearch::NameSearch(const DwarfFile& file, std::string_view name, const FunctionIndex* index)
    : file_(file),
      index_(!name.empty() && FunctionIndex::has_names_like(name) ? index : nullptr),
      name_(name) {
  if (index_ != nullptr) return;
  // What several units share was moved to units of its own: names, too.
  bool is_shared =
      file.supplement() != nullptr || std::ranges::any_of(file.units(), [](const DwarfUnit& unit) {
        return unit.tag == DW_TAG_partial_unit;
      });
  if (is_shared || name.empty()) return;
  std::vector<uint32_t> offsets = find_offsets(as_text(file.section(DwarfSection::kStr)), name);
  if (offsets.size() <= kMaxOffsets)
    search_ = std::make_unique<UnitSearch>(file, name, std::move(offsets));
}

NameSearch::~NameSearch() = default;

void NameSearch::search_to(size_t count) {
  if (search_ == nullptr || count <= hit_.size()) return;
  size_t first = hit_.size();
  hit_.resize(count);
  // Most units that have the name only declare the function, as users of a class do; finding that
  // out takes a fraction of the time to decode one.
  bool is_sure = !FunctionIndex::has_names_like(name_);
  parallel_jobs(count - first, [&](size_t i) {
    const DwarfUnit& unit = file_.units()[first + i];
    bool is_hit = search_->may_name(unit) && (is_sure || FunctionIndex::may_name(unit, name_));
    hit_[first + i] = is_hit ? 1 : 0;
  });
}

bool NameSearch::may_name(const DwarfUnit& unit) {
  // Some milliseconds' work, so that starting threads does not count.
  constexpr size_t kBatch = 48;
  auto index = static_cast<size_t>(&unit - file_.units().data());
  if (index_ != nullptr) return index_->may_name(index, name_);
  if (search_ == nullptr) return true;
  if (index >= hit_.size()) search_to(std::min(index + kBatch, file_.units().size()));
  return hit_[index] != 0;
}

}  // namespace sonde
