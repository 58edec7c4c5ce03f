// Profiles that tests of writers share, and readers of what was written.
#pragma once

#include <string>
#include <string_view>

#include "export/exports.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Two threads of two processes, two events, inlined and kernel frames, a sample without a stack.
/// cpu-clock has 3000000 ns in 3 samples, page-faults 5 in 2.
StackProfile sampled_profile();
/// "main;parse 3", "main;emit 1", as folded stacks give them.
StackProfile summed_profile();
/// Names with quotes, control characters, markup and bytes that are no UTF-8, in every place.
StackProfile hostile_profile();

/// What the format makes of a profile, uncompressed.
std::string exported(std::string_view format, const StackProfile& profile);
/// Of a gzip file; a failure of the running test where it is none.
std::string gunzip(const std::string& bytes);

}  // namespace sonde
