#include "base/printing/csv.h"

#include <algorithm>

namespace sonde {
namespace {

bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == ',' || c == '%';
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_of_number(c);
}

/// "+1.25%", "-3", and the intervals that we write of them: "-1.20 .. +3.40".
bool is_signed_numbers(std::string_view text) {
  constexpr std::string_view kBetween = " .. ";
  while (true) {
    size_t end = std::min(text.find(kBetween), text.size());
    std::string_view one = text.substr(0, end);
    if (one.starts_with('+') || one.starts_with('-')) one.remove_prefix(1);
    if (one.empty() || !std::ranges::all_of(one, is_of_number)) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + kBetween.size());
  }
}

}  // namespace

bool looks_like_formula(std::string_view text) {
  // Readers take quotes away, and some take blanks.
  text.remove_prefix(std::min(text.find_first_not_of("\" "), text.size()));
  if (text.empty() || is_signed_numbers(text)) return false;
  constexpr std::string_view kBegin = "=+@\t\r\n";
  if (kBegin.find(text.front()) != std::string_view::npos) return true;
  // The same, as wide as East Asian characters: = + - @.
  for (std::string_view wide : {"\uff1d", "\uff0b", "\uff0d", "\uff20"})
    if (text.starts_with(wide)) return true;
  // A word alone ("-bash", "-1") does nothing.
  return text.front() == '-' && !std::ranges::all_of(text.substr(1), is_of_word);
}

std::string csv_text(std::string_view text, bool quotes_formulas) {
  std::string cell(text);
  if (quotes_formulas && looks_like_formula(text)) cell.insert(cell.begin(), '\'');
  return cell;
}

std::string csv_name(std::string_view name, std::string_view separator, bool quotes_formulas) {
  std::string cell = csv_text(name, quotes_formulas);
  replace_separators(cell, separator);
  return cell;
}

void replace_separators(std::span<char> cell, std::string_view separator) {
  std::string_view text(cell.data(), cell.size());
  for (size_t at = 0; !separator.empty() && (at = text.find(separator, at)) != std::string::npos;)
    cell[at++] = '.';
  std::ranges::replace_if(cell, [](char c) { return c == '\n' || c == '\r'; }, '.');
}

Result<bool> quotes_formulas(const Env& env) {
  if (env.tool == "perf") return false;
  return !TRY(env.config.get_bool("sonde.csv-formulas", false));
}

}  // namespace sonde
