#include "stacks/parameter_list.h"

#include <algorithm>
#include <array>
#include <string>

namespace sonde {
namespace {

constexpr std::string_view kOperator = "operator";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

/// The bracket that closes this one; 0: it opens nothing.
char closing(char c) {
  switch (c) {
    case '(':
      return ')';
    case '<':
      return '>';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return 0;
  }
}

bool is_operator_at(std::string_view name, size_t at) {
  if (!name.substr(at).starts_with(kOperator) || (at > 0 && is_word(name[at - 1]))) return false;
  size_t end = at + kOperator.size();
  return end < name.size() && !is_word(name[end]);
}

/// The symbol after "operator", longest first: those that have brackets or arrows.
size_t symbol_length(std::string_view text) {
  constexpr std::array<std::string_view, 13> kSymbols = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">"};
  for (std::string_view symbol : kSymbols)
    if (text.starts_with(symbol)) return symbol.size();
  return 0;
}

/// What may stand behind a parameter list.
bool is_only_qualifiers(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords = {"const", "volatile", "noexcept", "&&", "&"};
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
    } else if (text.front() == '[') {
      size_t end = text.find(']');
      if (end == std::string_view::npos) return false;
      text.remove_prefix(end + 1);
    } else {
      const auto* word = std::ranges::find_if(
          kWords, [&](std::string_view known) { return text.starts_with(known); });
      if (word == kWords.end()) return false;
      text.remove_prefix(word->size());
      if (!text.empty() && is_word(text.front())) return false;
    }
  }
  return true;
}

}  // namespace

std::string_view without_parameters(std::string_view name) {
  constexpr size_t kNone = std::string_view::npos;
  std::string expected;                                    // closing brackets, outermost first
  size_t open = kNone, close = kNone, after_call = kNone;  // after_call: behind "operator()"
  for (size_t at = 0; at < name.size(); ++at) {
    char c = name[at];
    if (is_operator_at(name, at)) {
      size_t symbol = symbol_length(name.substr(at + kOperator.size()));
      at += kOperator.size() + symbol - 1;
      after_call = at + 1;
    } else if (name.substr(at).starts_with("->")) {
      ++at;
    } else if (char closed_by = closing(c)) {
      if (c == '(' && expected.empty()) open = at;
      expected += closed_by;
    } else if (c == ')' || c == '>' || c == ']' || c == '}') {
      if (expected.empty() || expected.back() != c) return name;
      expected.pop_back();
      if (c == ')' && expected.empty()) close = at;
    }
  }
  if (!expected.empty() || open == kNone || open == 0) return name;
  // In "operator void (*)()" and "void (*)(int)" a second group belongs to a type.
  bool follows_a_group = name[open - 1] == ')' && open != after_call;
  if (follows_a_group || name[open - 1] == ' ') return name;
  if (name.substr(open + 1).starts_with("anonymous")) return name;
  return is_only_qualifiers(name.substr(close + 1)) ? name.substr(0, open) : name;
}

}  // namespace sonde
