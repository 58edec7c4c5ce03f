// What profiles of a program can show: its symbols, lines, call chains.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "doctor/finding.h"

namespace sonde::doctor {

/// `path`: a program or a shared object. Errors are those of ElfFile.
[[nodiscard]] Result<std::vector<Finding>> examine_program(const std::string& path);

/// How many functions set up a frame pointer first, of those that call frame information tells of.
/// Leaf functions need none, and parts of functions that are rarely run have none, so a program
/// built with frame pointers has no 100 % either.
struct FrameSetups {
  size_t functions = 0;
  size_t with_frame = 0;
};
/// Of x86-64 and arm64; no functions for other machines.
[[nodiscard]] Result<FrameSetups> count_frame_setups(const std::string& path);

}  // namespace sonde::doctor
