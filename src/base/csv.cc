#include "base/csv.h"

#include <algorithm>

namespace sonde {
namespace {

bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == ',' || c == '%';
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_of_number(c);
}

}  // namespace

bool looks_like_formula(std::string_view text) {
  if (text.empty()) return false;
  std::string_view rest = text.substr(1);
  if (text.front() == '+') return rest.empty() || !std::ranges::all_of(rest, is_of_number);
  constexpr std::string_view kBegin = "=@\t\r\n";
  if (kBegin.find(text.front()) != std::string_view::npos) return true;
  // The same, as wide as East Asian characters: = + - @.
  for (std::string_view wide : {"\uff1d", "\uff0b", "\uff0d", "\uff20"})
    if (text.starts_with(wide)) return true;
  // A word alone ("-bash", "-1") does nothing.
  return text.front() == '-' && !std::ranges::all_of(rest, is_of_word);
}

std::string csv_text(std::string_view text, bool quotes_formulas) {
  std::string cell(text);
  if (quotes_formulas && looks_like_formula(text)) cell.insert(cell.begin(), '\'');
  return cell;
}

Result<bool> quotes_formulas(const Env& env) {
  if (env.tool == "perf") return false;
  return !TRY(env.config.get_bool("sonde.csv-formulas", false));
}

}  // namespace sonde
