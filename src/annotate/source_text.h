// Source files as shown in listings: where they are looked up, and their lines, with tabs expanded.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "symbol/source/source_lines.h"

namespace sonde::annotate {

/// Expands tabs to the next multiple of eight columns.
std::string expand_tabs(std::string_view text);

struct SourceOptions {
  std::string prefix;         // --prefix: put before absolute paths
  uint32_t prefix_strip = 0;  // leading directories to remove from the path first
};

/// The path under which a file is looked up.
[[nodiscard]] std::string place_of(const std::string& path, const SourceOptions& options);

class SourceText {
 public:
  SourceText(const Symbolizer& symbols, SourceOptions options)
      : options_(std::move(options)), sources_(symbols) {}

  [[nodiscard]] std::string place_of(const std::string& path) const {
    return annotate::place_of(path, options_);
  }
  /// The lines of the file of `place`, which is in `object`; empty if it is not available.
  std::span<const std::string_view> lines(DsoId object, const SourcePlace& place) {
    return sources_.of(object, place_of(place.file), place_of(place.directory));
  }

 private:
  SourceOptions options_;
  SourceLines sources_;
};

}  // namespace sonde::annotate
