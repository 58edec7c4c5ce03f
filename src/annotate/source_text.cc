#include "annotate/source_text.h"

namespace sonde::annotate {

std::string expand_tabs(std::string_view text) {
  constexpr size_t kTab = 8;
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '\t')
      out.append(kTab - out.size() % kTab, ' ');
    else
      out += c;
  }
  return out;
}

std::string place_of(const std::string& path, const SourceOptions& options) {
  if (options.prefix.empty() || !path.starts_with('/')) return path;
  std::string_view rest = path;
  for (uint32_t i = 0; i < options.prefix_strip; ++i) {
    size_t slash = rest.find('/', 1);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash);
  }
  return options.prefix + std::string(rest);
}

}  // namespace sonde::annotate
