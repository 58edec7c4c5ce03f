#include "store/proc_maps.h"

#include <charconv>

namespace sonde {
namespace {

/// Reads a number and the character that must follow it.
template <typename Number>
bool take(std::string_view& text, Number& value, int base, char follows) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data() + text.size() || *end != follows) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<ProcMapping> parse_proc_mapping(std::string_view line) {
  ProcMapping mapping;
  if (!take(line, mapping.start, 16, '-') || !take(line, mapping.end, 16, ' ')) return std::nullopt;
  if (line.size() < 5) return std::nullopt;
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  mapping.shared = line[3] == 's';
  line.remove_prefix(5);
  if (!take(line, mapping.offset, 16, ' ') || !take(line, mapping.major, 16, ':') ||
      !take(line, mapping.minor, 16, ' '))
    return std::nullopt;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), mapping.inode);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) mapping.path = line.substr(path);
  return mapping;
}

}  // namespace sonde
