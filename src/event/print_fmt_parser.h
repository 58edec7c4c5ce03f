// From the text of a print format to Code. See print_fmt_code.h for the form, print_fmt.h for the
// contract.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "event/print_fmt_code.h"
#include "event/tracepoint_format.h"

namespace sonde {
struct PrintTarget;
}

namespace sonde::print_fmt {

struct Parsed {
  Code code;
  std::vector<std::string> unresolved;  // names without a known value, each once
};

/// kCorrupt where the text is not C of the kind that print formats hold, names a field that is not
/// there, or calls a function that is not known.
Result<Parsed> parse_print_fmt(const TracepointFormat& format, const PrintTarget& target);

}  // namespace sonde::print_fmt
