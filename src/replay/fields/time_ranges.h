// `--time`: the parts of a recording to look at.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "perfdata/header/features.h"
#include "replay/sample_columns.h"

namespace sonde {

/// "1.5,2.5" (seconds; either side may be omitted), several of these separated by blanks, or shares
/// of the recording: "10%/2" (the second tenth), "10%" (the first), "0%-10%,30%-40%". Empty for an
/// empty text.
Result<std::vector<TimeRange>> parse_time_ranges(std::string_view text, uint64_t first_ns,
                                                 uint64_t last_ns);

/// One span in seconds, "1.5,2.5": for passes that meet events before they know how long the
/// recording is, so shares are refused. Everything for an empty text.
Result<TimeRange> parse_time_span(std::string_view text);

/// The ranges before any sample has been read, so that only those wanted are: shares are of what
/// the header says. Empty also if that does not say it, or the text is wrong: parse_time_ranges()
/// will tell.
std::vector<TimeRange> time_ranges_by_header(std::string_view text, const Features& features);

}  // namespace sonde
