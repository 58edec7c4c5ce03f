// What the families of sort keys share: construction, and the text of places in code.
#pragma once

#include <fmt/format.h>

#include "profile/interner.h"
#include "profile/keys/sort_key.h"

namespace sonde {

using KeyResult = Result<std::unique_ptr<SortKey>>;

/// Makes a key of class `Key`, whose constructor takes the input and the settings.
template <typename Key>
KeyResult make_key(const ProfileInput& input, const KeySettings& settings, std::string_view name,
                   std::string_view title) {
  auto key = std::make_unique<Key>(input, settings);
  key->name = name;
  key->title = title;
  return key;
}

/// Base of all keys: holds the input and the settings.
class KeyOfInput : public SortKey {
 public:
  KeyOfInput(const ProfileInput& input, const KeySettings& settings)
      : input_(input), settings_(settings) {}

 protected:
  const ProfileInput& input_;
  const KeySettings& settings_;
};

/// A row is a run-time address.
class AddressKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return three_way(static_cast<int64_t>(a), static_cast<int64_t>(b));
  }
  void text(uint64_t value, std::string& out) const override {
    fmt::format_to(std::back_inserter(out), "{:#x}", value);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

/// Width of an unresolved address in a symbol column: "[.] 0x" and sixteen digits.
inline constexpr size_t kUnresolvedWidth = 16 + 4 + 2;
/// The width that an unresolved row requires of a DSO column.
inline constexpr size_t kUnresolvedDsoWidth = 16;

/// "file.c:12"; if not known, "object[1234]", "function+12" in the kernel, and "??:0" in functions
/// of programs.
[[nodiscard]] std::string source_line(const ProfileInput& input, const Frame& frame);

/// An address without a symbol as columns show it: sixteen digits after "0x", which zero lacks.
void append_address(uint64_t address, std::string& out);

/// The value of the parent key if no function on the path matches.
inline constexpr uint64_t kNoParent = UINT64_MAX;

/// "4K", "2M", "N/A".
[[nodiscard]] std::string page_size_text(uint64_t size);

/// Compares distinct DSOs by the name shown; no DSO sorts last.
[[nodiscard]] int compare_dso_names(const ProfileInput& input, DsoId a, DsoId b, bool long_names);

}  // namespace sonde
