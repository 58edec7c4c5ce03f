// Speedscope's JSON (https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts),
// the output of py-spy, rbspy and many others: sampled and evented profiles, usually one per
// thread. The text is streamed, not held as a DOM. Untrusted: damaged parts are skipped and
// counted; it is an error if nothing is usable.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "stacks/session_stacks.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// One column per kind of unit: "time" (nanoseconds), "bytes", "samples". The options task_root and
/// want_samples are honoured: if the file has several profiles, their names become the outermost
/// frames; samples have times if the unit is a time. `name`: of the file, for messages.
Result<StackProfile> read_speedscope(std::string_view text, const std::string& name,
                                     const SessionStacksOptions& options, LossLedger& losses);

}  // namespace sonde
