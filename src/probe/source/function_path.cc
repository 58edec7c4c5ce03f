#include "probe/source/function_path.h"

#include <algorithm>
#include <ranges>
#include <vector>

namespace sonde {
namespace {

/// How a character changes the number of open brackets. "->" of a function type closes nothing.
int bracket(std::string_view path, size_t at) {
  if (path[at] == '<') return 1;
  return path[at] == '>' && (at == 0 || path[at - 1] != '-') ? -1 : 0;
}

/// Of the '<' at the beginning; npos if it is never closed.
size_t closing_bracket(std::string_view path) {
  int depth = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    int change = bracket(path, i);
    depth += change;
    if (change < 0 && depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Without the trait: "Vec<T> as Named"
std::string_view implementing_type(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += bracket(text, i);
    if (depth == 0 && text.substr(i).starts_with(" as ")) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::string plain_function_path(std::string_view path) {
  // "<<a::B as c::D>::E>::f": what follows the brackets, from the outside in.
  constexpr size_t kMaxNesting = 16;
  std::vector<std::string_view> tails;
  while (path.starts_with('<') && tails.size() < kMaxNesting) {
    size_t end = closing_bracket(path);
    if (end == std::string_view::npos || !path.substr(end + 1).starts_with("::")) break;
    tails.push_back(path.substr(end + 1));
    path = implementing_type(path.substr(1, end - 1));
  }
  tails.push_back(path);
  std::string plain;
  for (std::string_view part : std::views::reverse(tails))
    while (!part.empty()) {
      size_t colons = std::min(part.find("::<"), part.size());
      plain += part.substr(0, colons);
      part.remove_prefix(std::min(colons + 2, part.size()));
    }
  return plain;
}

std::string_view last_of_path(std::string_view path) {
  int depth = 0;
  size_t last = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    depth += bracket(path, i);
    if (depth == 0 && path.substr(i).starts_with("::")) last = i + 2;
  }
  return path.substr(last);
}

}  // namespace sonde
