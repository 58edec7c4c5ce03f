// Text with a time and a latency on each line, as tracing scripts and awk write it:
//
//   TIMEus DELTAus
//   9339835017 15133
//   9339835827 712
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct LatencyText {
  struct Line {
    double time = 0;
    double latency = 0;
  };
  std::vector<Line> lines;
  uint64_t skipped = 0;      // lines that do not begin with two numbers, except for a heading
  size_t first_skipped = 0;  // its line number, from 1
};

/// The first line may be a heading. Anything after the two numbers is ignored, as are empty lines
/// and lines that begin with '#'. Fails with kCorrupt if no line is good. `name`: the file's name,
/// for messages.
Result<LatencyText> read_latency_text(std::string_view text, const std::string& name);

}  // namespace sonde
