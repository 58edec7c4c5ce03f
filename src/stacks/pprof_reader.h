// profile.proto of pprof, unpacked (https://github.com/google/pprof/blob/main/proto/profile.proto):
// what Go programs and many profilers write. Untrusted: what is damaged is left out and counted, or
// an error where nothing can be made of it.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// A column per type of value, the one that pprof shows without being asked first. Pairs such as
/// "cycles_sample" and "cycles_event" (as converters of perf.data write them) are one column,
/// "cycles". With `task_root` a sample's label "comm" is its outermost frame. Samples have no
/// times, so the profile has none of them, only sums. `name`: of the file, for messages.
Result<StackProfile> read_pprof(std::string_view bytes, const std::string& name, bool task_root,
                                LossLedger& losses);
/// Whether a file that begins so may be one: fields of such a profile, as far as the bytes go.
[[nodiscard]] bool looks_like_pprof(std::string_view first_bytes);

}  // namespace sonde
