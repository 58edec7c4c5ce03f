// What the user asked `script` for, as the flags leave it.
#pragma once

#include <string>
#include <vector>

#include "cmd/flags.h"
#include "replay/session.h"
#include "script/items.h"
#include "script/line_writer.h"

namespace sonde {

struct ScriptOptions {
  std::string input;  // empty: what is piped in, or perf.data
  bool force = false;
  FieldChoice fields;
  std::vector<std::string> warnings;  // of -F
  std::string refused;                // an option that is not there, with its reason
  bool nanoseconds = false;
  bool latency_format = false;
  bool hide_call_graph = false;
  uint32_t max_stack = 127;
  bool relative_time = false;
  bool delta_time = false;
  bool show_kernel_path = false;
  bool per_event_dump = false;
  bool header = false, header_only = false, full_header = false;
  bool dump = false;
  bool dump_in_file_order = false;
  uint32_t max_blocks = 0;
  bool stitch_lbr = false;
  std::optional<bool> inlines;  // --inline, --no-inline; neither: of unwound chains
  int verbose = 0;
  std::string time;
  std::vector<std::string> stop_backtrace_at;
  ItemFilter items;
  EventGate::Choice gate;
  std::vector<uint32_t> pids, tids;
  SymbolOptions symbol_sources;

  /// Whether lines can be written before the recording has ended. Shares of it need its end; dumps
  /// and rounds show the order of the file.
  [[nodiscard]] bool can_follow() const {
    return !dump && !per_event_dump && !stitch_lbr && !items.records.rounds &&
           time.find('%') == std::string::npos;
  }
  /// Whether every sample is a line, and its time the recorded one: what fields it has is the
  /// recording's to say.
  [[nodiscard]] bool shows_samples_as_they_are() const {
    return !nanoseconds && !latency_format && !relative_time && !delta_time && !per_event_dump &&
           !header && !header_only && !dump && !stitch_lbr && verbose == 0 && time.empty() &&
           items.passes_all() && gate.on.empty() && gate.off.empty() && pids.empty() &&
           tids.empty();
  }
  [[nodiscard]] ShownTime shown_time() const {
    if (relative_time) return ShownTime::kSinceStart;
    return delta_time ? ShownTime::kSincePrevious : ShownTime::kRecorded;
  }
};

void declare_script_flags(FlagTable& flags, ScriptOptions& options);

}  // namespace sonde
