// The code of the functions with the most samples, disassembled, with source lines from debug
// information. Bounded: a page should open quickly, and hold what matters.
#pragma once

#include "export/page/page_code.h"
#include "replay/session.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// `profile` is of `session`, with samples. Only x86 objects present on this machine have code; the
/// kernel and generated code are excluded.
[[nodiscard]] PageCode hot_code(const Session& session, const StackProfile& profile);

}  // namespace sonde
