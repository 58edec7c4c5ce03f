// Regex: a POSIX extended regular expression, of a size that libc can bear.
//
// glibc's regcomp copies what is repeated ("(x{99}){99}", "((x+)+)+"), follows groups and choices
// by recursion, and keeps sets of states whose size grows with the square of the choices: a pattern
// of some hundred characters can take all memory, and a longer one the stack. So a pattern's cost
// is computed first, and one that costs too much is refused, as are back references, which may need
// exponential time.
//
//   Regex regex = TRY(Regex::compile("^sys_.*(read|write)$"));
//   if (regex.matches("sys_read")) …
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace sonde {

class Regex {
 public:
  enum class Letters : uint8_t { kAsTheyAre, kIgnoreCase };

  /// kUsage, with a line that quotes the pattern (shortened) and says what is wrong with it.
  static Result<Regex> compile(const std::string& pattern, Letters letters = Letters::kAsTheyAre);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  /// The first match at or after `from`: begin and end.
  [[nodiscard]] std::optional<std::pair<size_t, size_t>> find(std::string_view text,
                                                              size_t from = 0) const;
  [[nodiscard]] bool matches(std::string_view text) const;

  /// Why `pattern` costs too much, "it nests 4000 groups: 100 are the most"; empty if it does not,
  /// or is wrong in another way.
  [[nodiscard]] static std::string too_costly(std::string_view pattern);

 private:
  struct Compiled;
  explicit Regex(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace sonde
