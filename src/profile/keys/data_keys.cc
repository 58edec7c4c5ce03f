// Sort keys of the data that an instruction accesses: its type, the field, its cache line. They are
// evaluated once for each sampled place in code.
#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

/// The data that the instruction of a sample accesses, as an index into the distinct ones.
class DataPlaceKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override {
    FrameId leaf = input_.samples.leaf[row.sample()];
    if (!leaf.valid()) return number_of({.type = kUnknown, .field = {}});
    auto [found, is_new] = by_frame_.try_emplace(leaf.value, 0);
    if (is_new) found.value() = number_of(settings_.data_types->place_of(input_.frame(leaf)));
    return found->second;
  }

 protected:
  /// The part of a place that distinguishes it from others.
  [[nodiscard]] virtual uint64_t part_of(const DataPlace& place) const = 0;
  [[nodiscard]] const DataPlace& place(uint64_t value) const { return places_[value]; }
  [[nodiscard]] int compare_types(uint64_t a, uint64_t b) const {
    return place(a).type.compare(place(b).type);
  }

 private:
  static constexpr std::string_view kUnknown = "(unknown)";

  uint32_t number_of(const DataPlace& place) {
    uint32_t id = ids_.intern({input_.strings.intern(place.type).value, part_of(place)});
    if (id == places_.size()) places_.push_back(place);
    return id;
  }

  tsl::robin_map<uint32_t, uint32_t, NumberHash> by_frame_;
  Interner ids_{2};
  std::vector<DataPlace> places_;
};

class TypeKey final : public DataPlaceKey {
 public:
  using DataPlaceKey::DataPlaceKey;
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return compare_types(a, b); }
  void text(uint64_t value, std::string& out) const override { out += place(value).type; }

 protected:
  [[nodiscard]] uint64_t part_of(const DataPlace& /*place*/) const override { return 0; }
};

class TypeOffsetKey final : public DataPlaceKey {
 public:
  using DataPlaceKey::DataPlaceKey;
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    if (int by = compare_types(a, b); by != 0) return by;
    if (int by = three_way(place(a).offset, place(b).offset); by != 0) return by;
    return place(a).field.compare(place(b).field);
  }
  void text(uint64_t value, std::string& out) const override {
    const DataPlace& at = place(value);
    fmt::format_to(std::back_inserter(out), "{} +{}{:x} ({})", at.type, at.offset == 0 ? "" : "0x",
                   at.offset, at.field.empty() ? "no field" : at.field);
  }

 protected:
  // Fields of a union share an offset.
  [[nodiscard]] uint64_t part_of(const DataPlace& place) const override {
    return place.offset << 32 | input_.strings.intern(place.field).value;
  }
};

class TypeCachelineKey final : public DataPlaceKey {
 public:
  using DataPlaceKey::DataPlaceKey;
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    if (int by = compare_types(a, b); by != 0) return by;
    return three_way(line_of(place(a)), line_of(place(b)));
  }
  void text(uint64_t value, std::string& out) const override {
    const DataPlace& at = place(value);
    out += at.type;
    if (at.type_size > 0) fmt::format_to(std::back_inserter(out), ": cache-line {}", line_of(at));
  }

 protected:
  [[nodiscard]] uint64_t part_of(const DataPlace& place) const override { return line_of(place); }

 private:
  static constexpr uint64_t kLineBytes = 64;
  static uint64_t line_of(const DataPlace& place) { return place.offset / kLineBytes; }
};

/// A function and the offset from its start: single instructions.
class SymbolOffsetKey final : public KeyOfInput {
 public:
  SymbolOffsetKey(const ProfileInput& input, const KeySettings& settings)
      : KeyOfInput(input, settings) {
    min_width = kUnresolvedWidth;
  }
  [[nodiscard]] bool is_of_place() const override { return true; }
  uint64_t of_place(const CodePlace& place) override {
    const Frame& frame = input_.frame(place.frame);
    bool resolved = frame.symbol.valid();
    uint32_t id = ids_.intern({frame.symbol.value, resolved ? frame.address : place.ip});
    if (id == places_.size()) places_.push_back({frame, place.ip});
    return id;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    const Frame &left = places_[a].frame, &right = places_[b].frame;
    if (left.symbol.valid() != right.symbol.valid()) return left.symbol.valid() ? -1 : 1;
    if (!left.symbol.valid()) return three_way(places_[a].ip, places_[b].ip);
    if (left.symbol != right.symbol)
      return three_way(std::pair(input_.symbols.name(left.symbol), left.symbol.value),
                       std::pair(input_.symbols.name(right.symbol), right.symbol.value));
    return three_way(left.address, right.address);
  }
  void text(uint64_t value, std::string& out) const override {
    const Place& place = places_[value];
    fmt::format_to(std::back_inserter(out), "[{}] ", static_cast<char>(place.frame.level));
    if (!place.frame.symbol.valid()) return append_address(place.ip, out);
    fmt::format_to(std::back_inserter(out), "{}+{:#x}", input_.symbols.name(place.frame.symbol),
                   place.frame.address - place.frame.symbol_start);
  }

 private:
  struct Place {
    Frame frame;
    uint64_t ip;
  };
  Interner ids_{2};
  std::vector<Place> places_;
};

template <typename Key>
KeyResult make_data_key(const ProfileInput& input, const KeySettings& settings,
                        std::string_view name, std::string_view title) {
  if (settings.data_types == nullptr)
    return fail(ErrorCode::kUsage, "{}: data types are not known here; report shows them", name);
  return make_key<Key>(input, settings, name, title);
}

}  // namespace

KeyResult make_type_key(const ProfileInput& input, const KeySettings& settings) {
  return make_data_key<TypeKey>(input, settings, "type", "Data Type");
}
KeyResult make_typeoff_key(const ProfileInput& input, const KeySettings& settings) {
  return make_data_key<TypeOffsetKey>(input, settings, "typeoff", "Data Type Offset");
}
KeyResult make_typecln_key(const ProfileInput& input, const KeySettings& settings) {
  return make_data_key<TypeCachelineKey>(input, settings, "typecln", "Data Type Cacheline");
}
KeyResult make_symoff_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<SymbolOffsetKey>(input, settings, "symoff", "Symbol Offset");
}

}  // namespace sonde
