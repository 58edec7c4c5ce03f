// Text with a time and a latency in each line, as tracing scripts and awk write it:
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
  uint64_t skipped = 0;      // lines that do not begin with two numbers, but for a headline
  size_t first_skipped = 0;  // its number, from 1
};

/// The first line may be a headline. What follows the two numbers does not count, nor do empty
/// lines and those that begin with '#'. An error (kCorrupt) where no line is good. `name`: of the
/// file, for messages.
Result<LatencyText> read_latency_text(std::string_view text, const std::string& name);

}  // namespace sonde
