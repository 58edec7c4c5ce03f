// Parses the text of a print format into Code. See print_fmt_code.h for the form, print_fmt.h for
// the contract.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "event/print_fmt/print_fmt_code.h"
#include "event/print_fmt/tracepoint_format.h"

namespace sonde {
struct PrintTarget;
}

namespace sonde::print_fmt {

struct Parsed {
  Code code;
  std::vector<std::string> unresolved;  // names without a known value, each once
};

/// kCorrupt if the text is not C of the kind used in print formats, names a field that does not
/// exist, or calls an unknown function.
Result<Parsed> parse_print_fmt(const TracepointFormat& format, const PrintTarget& target);

}  // namespace sonde::print_fmt
