// Source files as shown in listings: read once, split into lines, each trimmed and with tabs
// expanded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::annotate {

/// Expands tabs to the next multiple of eight columns.
std::string expand_tabs(std::string_view text);

struct SourceOptions {
  std::string prefix;         // --prefix: put before absolute paths
  uint32_t prefix_strip = 0;  // leading directories to remove from the path first
};

class SourceText {
 public:
  explicit SourceText(SourceOptions options) : options_(std::move(options)) {}

  /// The path under which a file is looked up.
  [[nodiscard]] std::string place_of(const std::string& path) const;
  /// The lines of a file; empty if it is not available.
  const std::vector<std::string_view>& lines(const std::string& path);

 private:
  struct File {
    std::string text;
    std::vector<std::string_view> lines;
  };
  SourceOptions options_;
  std::map<std::string, std::unique_ptr<File>, std::less<>> files_;
};

}  // namespace sonde::annotate
