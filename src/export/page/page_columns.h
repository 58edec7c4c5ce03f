// PageColumns: named columns of numbers, back to back in one block, in the format that the
// explorer's page reads (web/explorer/data.ts).
//
//   PageColumns columns;
//   columns.integers("node_depth", depths);   // LEB128
//   columns.reals("self0_value", values);     // 8 bytes each, little-endian
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

class PageColumns {
 public:
  struct Section {
    std::string name;
    size_t offset = 0;  // bytes
    size_t size = 0;    // bytes
    size_t count = 0;   // numbers
  };

  /// `values`: any range of unsigned numbers, each less than 2^53.
  template <typename Range>
  void integers(std::string name, const Range& values) {
    begin(std::move(name));
    for (auto value : values) append(static_cast<uint64_t>(value));
    end();
  }
  void reals(std::string name, const std::vector<double>& values) {
    begin(std::move(name));
    for (double value : values) {
      auto bits = std::bit_cast<uint64_t>(value);
      for (unsigned shift = 0; shift < 64; shift += 8)
        bytes_.push_back(static_cast<char>(bits >> shift));
      ++sections_.back().count;
    }
    end();
  }
  /// As integers if `real` is false.
  void numbers(std::string name, const std::vector<double>& values, bool real) {
    if (real)
      reals(std::move(name), values);
    else
      integers(std::move(name), values);
  }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }

 private:
  void begin(std::string name) {
    sections_.push_back({.name = std::move(name), .offset = bytes_.size()});
  }
  void append(uint64_t value) {
    for (; value > 127; value >>= 7) bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
    ++sections_.back().count;
  }
  void end() { sections_.back().size = bytes_.size() - sections_.back().offset; }

  std::string bytes_;
  std::vector<Section> sections_;
};

/// Whether the value can be written as an integer without loss.
[[nodiscard]] inline bool is_whole(double value) {
  constexpr double kEnd = 9007199254740992.0;  // 2^53: the page's numbers are exact below it
  return value >= 0 && value < kEnd && std::nearbyint(value) == value;
}

}  // namespace sonde
