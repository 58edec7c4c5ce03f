// Parses single lines of `perf script`'s text: the first line of a sample, and one frame of its
// call chain. The fields depend on its -F, so everything but the shape is optional.
//
//   cc1  4152/4153 [003] 75695.008945:      17736 cycles:u:
//              4f4f _dl_start+0x3df (/usr/lib/ld-2.24.so)
//              40 skip_blanks (inlined)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stacks/stack_profile.h"

namespace sonde {

/// Views of the line.
struct ScriptSampleLine {
  std::string_view comm = {};
  std::optional<uint32_t> pid;
  std::optional<uint32_t> tid;  // also if the text has only one number
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> time_ns;
  std::optional<uint64_t> period;
  std::string_view event = {};  // "cycles:u"
  std::string_view rest = {};   // a tracepoint's fields, or the place of a sample without a chain
  bool is_sample = true;        // false: another record ("PERF_RECORD_MMAP2 …")
};

/// nullopt: not the first line of a sample. With `certain`, only lines that have a time, a CPU or
/// an event in the right position.
[[nodiscard]] std::optional<ScriptSampleLine> parse_sample_line(std::string_view line,
                                                                bool certain);

struct ScriptFrameLine {
  uint64_t address = 0;
  std::string_view function = {};  // without its offset; "[unknown]"
  std::string_view object = {};    // empty: inlined, or not in the text
  FrameKind kind = FrameKind::kUser;
};

[[nodiscard]] std::optional<ScriptFrameLine> parse_frame_line(std::string_view line);
/// Of the text after the event in a sample line, the part that may be its code location: after the
/// data address, the data source ("|OP LOAD|…"), and weights.
[[nodiscard]] std::string_view place_in_sample_line(std::string_view rest);

}  // namespace sonde
