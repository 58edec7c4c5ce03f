// Speedscope's JSON (https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts),
// what py-spy, rbspy and many others write: sampled and evented profiles, usually one per thread.
// The text is walked, not held as a tree. Untrusted: what is damaged is left out and counted, or an
// error where nothing can be made of it.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "stacks/session_stacks.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// A column per kind of unit: "time" (nanoseconds), "bytes", "samples". Of the options, task_root
/// and want_samples count: where the file has several profiles, their names are the outermost
/// frames; samples have times where the unit is one of time. `name`: of the file, for messages.
Result<StackProfile> read_speedscope(std::string_view text, const std::string& name,
                                     const SessionStacksOptions& options, LossLedger& losses);

}  // namespace sonde
