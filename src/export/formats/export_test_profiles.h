// Profiles shared by the tests of the writers, and helpers that read back the output.
#pragma once

#include <string>
#include <string_view>

#include "export/formats/exports.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Two threads of two processes, two events, inlined and kernel frames, a sample without a stack.
/// cpu-clock has 3000000 ns in 3 samples, page-faults 5 in 2.
StackProfile sampled_profile();
/// "main;parse 3", "main;emit 1", as read from folded stacks.
StackProfile summed_profile();
/// Names with quotes, control characters, markup and invalid UTF-8 in every field.
StackProfile hostile_profile();

/// The profile in this format, uncompressed.
std::string exported(std::string_view format, const StackProfile& profile);
/// Decompresses a gzip file; fails the running test if it is not one.
std::string gunzip(const std::string& bytes);

}  // namespace sonde
