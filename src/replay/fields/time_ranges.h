// `--time`: the parts of a recording to look at.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "replay/sample_columns.h"

namespace sonde {

/// "1.5,2.5" (seconds; either side may be omitted), several of these separated by blanks, or shares
/// of the recording: "10%/2" (the second tenth), "10%" (the first), "0%-10%,30%-40%". Empty for an
/// empty text.
Result<std::vector<SampleFilter::TimeRange>> parse_time_ranges(std::string_view text,
                                                               uint64_t first_ns, uint64_t last_ns);

}  // namespace sonde
