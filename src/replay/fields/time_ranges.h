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
Result<std::vector<SampleFilter::TimeRange>> parse_time_ranges(std::string_view text,
                                                               uint64_t first_ns, uint64_t last_ns);

/// The same before any sample has been read, so that only those wanted are: shares are of what the
/// header says. Empty also if that does not say it, or the text is wrong: parse_time_ranges() will
/// tell.
std::vector<SampleFilter::TimeRange> time_ranges_by_header(std::string_view text,
                                                           const Features& features);

}  // namespace sonde
