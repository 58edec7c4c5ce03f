// The format string of a print format: text and the conversions of the kernel's printf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "event/print_fmt/print_fmt_code.h"

namespace sonde::print_fmt {

struct FormatPart {
  std::string text;  // before the conversion, with %% replaced by %
  Spec spec;         // conversion 0 in the last part if it is only text
};

/// Splits "pid %d: %s" into parts. An unknown conversion stays text. `word_size`: the size of %l.
std::vector<FormatPart> split_format(std::string_view format, uint32_t word_size);

}  // namespace sonde::print_fmt
