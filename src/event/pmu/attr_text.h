// A perf_event_attr as text, exactly as perf prints it: every non-zero field, in the order of
// perf's own list, bit sets as words.
#pragma once

#include <string>
#include <string_view>

#include "abi/perf_event.h"

namespace sonde {

/// What `record -vv` shows before it opens an event: a line of dashes, "perf_event_attr:", one line
/// per field, dashes again. Ends with a newline.
[[nodiscard]] std::string attr_block(const abi::EventAttr& attr);

/// What follows the name in `# event :` header lines: ", " joins "field: value".
[[nodiscard]] std::string attr_line(const abi::EventAttr& attr);
/// The same for `evlist -v`: with config even if it is 0, which is an event, too (as perf 6.8
/// does).
[[nodiscard]] std::string attr_line_with_config(const abi::EventAttr& attr);

/// "IP|TID|TIME", "ID|LOST".
[[nodiscard]] std::string sample_type_text(uint64_t sample_type);
[[nodiscard]] std::string read_format_text(uint64_t read_format);

}  // namespace sonde
