// Sort keys of places in code, other than functions (symbol_key.cc): dso, sizes, source lines.
#include "profile/keys/place_key.h"

namespace sonde {

int compare_dso_names(const ProfileInput& input, DsoId a, DsoId b, bool long_names) {
  if (a == b) return 0;
  if (!a.valid() || !b.valid()) return a.valid() ? -1 : 1;
  const Dso& left = input.dsos[a];
  const Dso& right = input.dsos[b];
  return long_names ? left.path.compare(right.path) : left.short_name.compare(right.short_name);
}

std::string source_line(const ProfileInput& input, const Frame& frame) {
  constexpr std::string_view kUnknown = "??:0";
  if (!frame.dso.valid()) return std::string(kUnknown);
  std::string line = input.symbols.srcline(frame.dso, frame.address);
  if (line != kUnknown) return line;
  bool stands_for_line =
      frame.symbol.valid() &&
      (input.dsos[frame.dso].is_kernel_side || input.symbols.name(frame.symbol).ends_with("@plt"));
  if (frame.symbol.valid() && !stands_for_line) return line;
  if (frame.symbol.valid())
    return fmt::format("{}+{}", input.symbols.name(frame.symbol),
                       frame.address - frame.symbol_start);
  return fmt::format("{}[{:x}]", input.dso_name(frame.dso), frame.address);
}

void append_address(uint64_t address, std::string& out) {
  bool is_zero = address == 0;
  constexpr std::string_view kDigits = "0123456789abcdef";
  char text[18] = {'0', 'x'};
  for (size_t i = std::size(text); i-- > 2; address >>= 4) text[i] = kDigits[address & 15];
  out.append(text + (is_zero ? 2 : 0), text + std::size(text));
}

namespace {

class DsoKey final : public PlaceKey {
 public:
  DsoKey(const ProfileInput& input, const KeySettings& settings) : PlaceKey(input, settings) {
    cuts = true;
  }
  [[nodiscard]] bool is_of_symbol() const override { return true; }
  uint64_t of_place(const CodePlace& place) override {
    return same_named(input_.frame(place.frame).dso).value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return compare_dso_names(input_, dso_of(a), dso_of(b), settings_.verbose);
  }
  void text(uint64_t value, std::string& out) const override { out += name_of(dso_of(value)); }
  /// The name without its directory: the programs being compared are often in different places.
  [[nodiscard]] std::string identity(uint64_t value, uint32_t /*first_sample*/) const override {
    return dso_of(value).valid() ? std::string(name_of(dso_of(value))) : std::string();
  }
  [[nodiscard]] NameKind names() const override { return NameKind::kObject; }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    DsoId dso = dso_of(value);
    return dso.valid() ? name_of(dso).size() : 0;
  }
  [[nodiscard]] size_t unresolved_width() const override {
    return settings_.separator == 0 && !settings_.dso_filter ? kUnresolvedDsoWidth : 0;
  }

 private:
  static DsoId dso_of(uint64_t value) {
    DsoId dso;
    dso.value = static_cast<uint32_t>(value);
    return dso;
  }
};

class SymbolSizeKey final : public PlaceKey {
 public:
  SymbolSizeKey(const ProfileInput& input, const KeySettings& settings)
      : PlaceKey(input, settings) {
    right_aligned = true;
  }
  [[nodiscard]] bool is_of_symbol() const override { return true; }
  uint64_t of_place(const CodePlace& place) override {
    SymbolId symbol = input_.frame(place.frame).symbol;
    if (!symbol.valid()) return kUnknownSize;
    auto [start, end] = input_.symbols.range(symbol);
    return end - start;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return three_way(a == kUnknownSize ? 0 : a, b == kUnknownSize ? 0 : b);
  }
  void text(uint64_t value, std::string& out) const override {
    if (value == kUnknownSize)
      out += "unknown";
    else
      fmt::format_to(std::back_inserter(out), "{}", static_cast<int32_t>(value));
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }

 private:
  static constexpr uint64_t kUnknownSize = UINT64_MAX;
};

/// The size of the mapping that the sample hit.
class DsoSizeKey final : public KeyOfInput {
 public:
  DsoSizeKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {
    right_aligned = true;
  }
  uint64_t of_row(RowReader& row) override { return input_.details.mapped_size(row.sample()); }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(b, a); }
  void text(uint64_t value, std::string& out) const override {
    if (value == 0)
      out += "unknown";
    else
      fmt::format_to(std::back_inserter(out), "{}", static_cast<int32_t>(value));
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

/// Text derived from a place, stored in the string pool.
class PlaceTextKey : public PlaceKey {
 public:
  PlaceTextKey(const ProfileInput& input, const KeySettings& settings) : PlaceKey(input, settings) {
    cuts = true;
  }
  uint64_t of_place(const CodePlace& place) override {
    return input_.strings.intern(text_of(input_.frame(place.frame))).value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return a == b ? 0 : view(a).compare(view(b));
  }
  void text(uint64_t value, std::string& out) const override { out += view(value); }

 protected:
  [[nodiscard]] virtual std::string text_of(const Frame& frame) const = 0;

 private:
  [[nodiscard]] std::string_view view(uint64_t value) const {
    return input_.strings.view(StringId(static_cast<size_t>(value)));
  }
};

class SrclineKey final : public PlaceTextKey {
 public:
  using PlaceTextKey::PlaceTextKey;

 protected:
  [[nodiscard]] std::string text_of(const Frame& frame) const override {
    return source_line(input_, frame);
  }
};

class SrcfileKey final : public PlaceTextKey {
 public:
  using PlaceTextKey::PlaceTextKey;

 protected:
  [[nodiscard]] std::string text_of(const Frame& frame) const override {
    return frame.dso.valid() ? input_.symbols.srcfile(frame.dso, frame.address) : "";
  }
};

}  // namespace

KeyResult make_dso_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DsoKey>(input, settings, "dso", "Shared Object");
}
KeyResult make_symbol_size_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<SymbolSizeKey>(input, settings, "symbol_size", "Symbol size");
}
KeyResult make_dso_size_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DsoSizeKey>(input, settings, "dso_size", "DSO size");
}
KeyResult make_srcline_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<SrclineKey>(input, settings, "srcline", "Source:Line");
}
KeyResult make_srcfile_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<SrcfileKey>(input, settings, "srcfile", "Source File");
}

}  // namespace sonde
