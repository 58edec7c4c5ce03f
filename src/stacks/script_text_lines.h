// The lines of `perf script`'s text, one by one: the first of a sample, and one step of its call
// chain. What is in them is up to its -F, so everything but the shape is optional.
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
  std::optional<uint32_t> tid;  // also where the text has one number only
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> time_ns;
  std::optional<uint64_t> period;
  std::string_view event = {};  // "cycles:u"
  std::string_view rest = {};   // what a tracepoint says, or the place of a sample without a chain
  bool is_sample = true;        // false: another record ("PERF_RECORD_MMAP2 …")
};

/// nullopt: not the first line of a sample. With `certain`, only what has a time, a CPU or an event
/// where one belongs.
[[nodiscard]] std::optional<ScriptSampleLine> parse_sample_line(std::string_view line,
                                                                bool certain);

struct ScriptFrameLine {
  uint64_t address = 0;
  std::string_view function = {};  // without its offset; "[unknown]"
  std::string_view object = {};    // empty: inlined, or not in the text
  FrameKind kind = FrameKind::kUser;
};

[[nodiscard]] std::optional<ScriptFrameLine> parse_frame_line(std::string_view line);
/// Of what follows the event in a sample's line, what may be its place in code: behind the data
/// address, where the data came from ("|OP LOAD|…"), and weights.
[[nodiscard]] std::string_view place_in_sample_line(std::string_view rest);

}  // namespace sonde
