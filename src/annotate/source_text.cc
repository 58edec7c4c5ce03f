#include "annotate/source_text.h"

#include "base/file.h"
#include "base/text.h"

namespace sonde::annotate {
namespace {

constexpr size_t kMaxSourceSize = size_t{64} << 20;

}  // namespace

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

std::string SourceText::place_of(const std::string& path) const {
  if (options_.prefix.empty() || !path.starts_with('/')) return path;
  std::string_view rest = path;
  for (uint32_t i = 0; i < options_.prefix_strip; ++i) {
    size_t slash = rest.find('/', 1);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash);
  }
  return options_.prefix + std::string(rest);
}

const std::vector<std::string_view>& SourceText::lines(const std::string& path) {
  auto [entry, is_new] = files_.try_emplace(path);
  if (is_new) {
    entry->second = std::make_unique<File>();
    File& file = *entry->second;
    if (auto text = read_file(path, kMaxSourceSize)) file.text = std::move(*text);
    file.lines = split(file.text, '\n');
    if (!file.lines.empty() && file.lines.back().empty()) file.lines.pop_back();
  }
  return entry->second->lines;
}

}  // namespace sonde::annotate
