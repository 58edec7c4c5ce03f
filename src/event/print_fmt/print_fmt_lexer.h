// Tokenizes a print format: the subset of C that the kernel's TP_printk arguments are written in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde::print_fmt {

struct Token {
  enum class Kind : uint8_t { kEnd, kName, kNumber, kChar, kString, kPunctuation };
  Kind kind = Kind::kEnd;
  std::string text;          // the name, the operator, or the decoded string
  uint64_t value = 0;        // for a number or a character
  bool is_unsigned = false;  // suffix U
  bool is_long = false;      // suffix L
  bool is_long_long = false;
  bool is_decimal = false;
};

/// Adjacent string literals become one token. The list ends with a kEnd token. kCorrupt if it is
/// not C.
Result<std::vector<Token>> tokenize(std::string_view text);

}  // namespace sonde::print_fmt
