#include "symbol/generated_name.h"

#include <cstring>
#include <string_view>

namespace sonde {
namespace {

constexpr std::string_view kMark = "/0x";
constexpr size_t kFewestDigits = 8;

/// Whether the text before the address is a lambda class rather than some file's path.
bool names_lambda(std::string_view before) {
  size_t start = before.find_last_of(" (,;[");
  std::string_view word = start == std::string_view::npos ? before : before.substr(start + 1);
  return word.find("Lambda") != std::string_view::npos;
}

}  // namespace

size_t make_generated_name_readable(char* name, size_t size) {
  for (size_t at = 0;;) {
    std::string_view text(name, size);
    at = text.find(kMark, at);
    if (at == std::string_view::npos) return size;
    size_t digits = at + kMark.size();
    size_t end = text.find_first_not_of("0123456789abcdef", digits);
    if (end == std::string_view::npos) end = size;
    if (end - digits < kFewestDigits || !names_lambda(text.substr(0, at))) {
      at = digits;
      continue;
    }
    std::memmove(name + at, name + end, size - end);
    size -= end - at;
  }
}

}  // namespace sonde
