// The code of functions with the samples on each instruction, for the explorer's page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/large_vector.h"
#include "stacks/stack_profile.h"

namespace sonde {

struct CodeInstruction {
  uint32_t offset = 0;         // from the function's start
  std::string text;            // in assembler syntax
  uint32_t file = UINT32_MAX;  // index into CodeListing::sources; UINT32_MAX: not known
  uint32_t line = 0;           // 0: not known
};

/// A part of a source file.
struct SourcePart {
  std::string path;
  uint32_t first_line = 1;
  std::vector<std::string> lines;  // empty if the file is not available
};

struct CodeListing {
  StackFrameId frame;  // the function among the profile's frames
  std::string name;
  bool is_cut = false;  // only the beginning of the function is included
  std::vector<CodeInstruction> instructions;
  std::vector<SourcePart> sources;
};

struct PageCode {
  std::vector<CodeListing> listings;
  /// By sample: the instruction that it fell on, numbered across all listings, plus one; 0: in no
  /// listing.
  LargeVector<uint32_t> place;
};

}  // namespace sonde
