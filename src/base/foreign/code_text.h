// A recording's text inside code that is generated from it: Python, the metadata of CTF. A name
// becomes an identifier, any other text a literal; nothing of a recording gets into code otherwise.
//
//   Identifiers parameters(kPythonWords);
//   parameters.add("from")     // "from_"
//   parameters.add("a-b")      // "a_b"
//   parameters.add("a b")      // "a_b_2"
//   python_literal("a\"b\n")   // "a\"b\n" with its quotes and escapes
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

/// `name` with '_' for every byte that is no ASCII letter or digit, and in front of a digit:
/// [A-Za-z_][A-Za-z0-9_]*, whatever the name is.
[[nodiscard]] std::string identifier_of(std::string_view name);

/// Identifiers of one scope, all different.
class Identifiers {
 public:
  /// `reserved`: words of the language, and what the scope already has; they get a '_'.
  explicit Identifiers(std::span<const std::string_view> reserved = {});
  /// The identifier for `name`; with "_2", "_3" … where an earlier one has it.
  [[nodiscard]] std::string add(std::string_view name);

 private:
  std::set<std::string_view> reserved_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, uint32_t, std::less<>> numbers_;  // the last one used of an identifier
};

/// A string literal of Python: one line of printable ASCII in double quotes. Its value is the text
/// as scripts get it (python/python_library.h, text_object): a byte that is not UTF-8 is "\xNN".
[[nodiscard]] std::string python_literal(std::string_view text);

}  // namespace sonde
