#include "base/error.h"

#include "base/printing/printable.h"

namespace sonde {
namespace {

constexpr std::string_view kLineEnds = "\r\n";

bool in_one_line(std::string_view text, std::string& replacement) {
  if (text.find_first_of(kLineEnds) == std::string_view::npos) return false;
  replacement = one_line(text);
  return true;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (char c : text)
    if (kLineEnds.find(c) == std::string_view::npos)
      line += c;
    else
      append_printable(line, {&c, 1});
  return line;
}

std::string detail::message_text(fmt::string_view format, fmt::format_args args) {
  return format_with_rule(format, args, in_one_line);
}

}  // namespace sonde
