// pprof's profile.proto, uncompressed
// (https://github.com/google/pprof/blob/main/proto/profile.proto): what Go programs and many
// profilers write. Untrusted: damaged parts are skipped and counted; it is an error if nothing is
// usable.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// One column per value type, pprof's default first. Pairs such as "cycles_sample" and
/// "cycles_event" (from converters of perf.data) become one column, "cycles". With `task_root`, the
/// label "comm" of a sample becomes its outermost frame. Samples have no times, so the profile
/// holds only sums, no samples. `name`: of the file, for messages.
Result<StackProfile> read_pprof(std::string_view bytes, const std::string& name, bool task_root,
                                LossLedger& losses);
/// Whether a file with these first bytes may be one: fields of such a profile, as far as the bytes
/// go.
[[nodiscard]] bool looks_like_pprof(std::string_view first_bytes);

}  // namespace sonde
