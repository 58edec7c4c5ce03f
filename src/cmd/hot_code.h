// The code of the functions that most samples fell on, disassembled, with the source lines that
// debug information tells of. Bounded: a page should open quickly, and hold what matters.
#pragma once

#include "export/page_code.h"
#include "replay/session.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// `profile` is of `session`, with samples. Only x86 objects that are here have code; the kernel's
/// and generated code are not among them.
[[nodiscard]] PageCode hot_code(const Session& session, const StackProfile& profile);

}  // namespace sonde
