// The last line of a recording: what was written, where, and how many samples it holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sonde {

struct RecordSummary {
  std::string file;
  uint64_t bytes = 0;
  uint64_t samples = 0;
  std::pair<uint64_t, uint64_t> compression_in_out;  // 0, 0: not compressed
};

/// "[ perf record: Captured and wrote 0.003 MB perf.data (49 samples) ]": perf's line.
std::string summary_line(std::string_view tool, const RecordSummary& summary);

}  // namespace sonde
