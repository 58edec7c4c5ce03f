#include "symbol/generated_name.h"

#include <algorithm>
#include <string_view>

namespace sonde {
namespace {

constexpr std::string_view kMark = "/0x";
constexpr size_t kFewestDigits = 8;

constexpr std::string_view kLambda = "Lambda";
constexpr std::string_view kBeforeWord = " (,;[";
constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace

size_t make_generated_name_readable(char* name, size_t size) {
  std::string_view text(name, size);
  // Most names have none. What is behind it is copied to the front, once: a name may be as long as
  // its file.
  size_t at = std::min(text.find(kMark), size), kept = at;
  if (at == size) return size;
  std::string_view before = text.substr(0, at);
  size_t word = before.find_last_of(kBeforeWord) + 1;
  // Whether the word so far is a lambda class rather than some file's path.
  bool names_lambda = before.find(kLambda, word) != std::string_view::npos;
  while (at < size) {
    if (names_lambda && text.substr(at).starts_with(kMark)) {
      size_t digits = at + kMark.size();
      size_t end = std::min(text.find_first_not_of(kHexDigits, digits), size);
      if (end - digits >= kFewestDigits) {
        at = end;
        continue;
      }
    }
    char next = name[at++];
    name[kept++] = next;
    if (kBeforeWord.find(next) != std::string_view::npos) names_lambda = false;
    names_lambda |= std::string_view(name, kept).ends_with(kLambda);
  }
  return kept;
}

}  // namespace sonde
