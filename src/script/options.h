// What `script` is asked for.
#pragma once

#include <string>
#include <vector>

#include "replay/session.h"
#include "script/items.h"
#include "script/line_writer.h"

namespace sonde {

struct ScriptOptions {
  std::string input;  // empty: standard input if it is a pipe, or perf.data
  bool force = false;
  std::string script;  // -s: a program that gets the samples; empty: they are shown as lines
  std::string generated_language;  // -g
  bool list_scripts = false;
  FieldSelection fields;
  std::vector<std::string> warnings;    // about -F
  std::optional<ItraceOptions> itrace;  // --itrace; not set: perf's default
  bool pads_objects = false;            // --call-trace
  std::vector<std::string> graph_functions;
  bool disassembles = false;  // --xed: instructions as text where fields have their bytes
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
  bool checks_order = false;  // no lines: says how many records came too late to be put in order
  bool dump_in_file_order = false;
  uint32_t max_blocks = 0;
  bool stitch_lbr = false;
  std::optional<bool> inlines;  // --inline, --no-inline; neither: of unwound chains
  int verbose = 0;
  std::string time;
  std::vector<std::string> stop_backtrace_at;
  ItemFilter items;
  EventWindow::Choice gate;
  std::vector<uint32_t> pids, tids;
  SymbolOptions symbol_sources;
  std::string dlfilter;  // dlfilters/filter_run.h; empty: none
  std::vector<std::string> dlfilter_arguments;
  bool list_dlfilters = false;

  /// Whether lines can be written before the recording has ended. Shares of its time need its end;
  /// dumps and rounds are in file order.
  [[nodiscard]] bool can_follow() const {
    return !dump && !checks_order && !per_event_dump && !stitch_lbr && !items.records.rounds &&
           time.find('%') == std::string::npos;
  }
  /// Whether lines of a recording that is not a pipe can be made a part at a time, in time order.
  /// Other records are still shown between all samples.
  [[nodiscard]] bool can_batch() const {
    return can_follow() && !header_only && verbose == 0 && !items.records.any();
  }
  /// Whether every sample is a line with its recorded time; which fields it has depends on the
  /// recording.
  [[nodiscard]] bool shows_samples_as_they_are() const {
    return !nanoseconds && !latency_format && !relative_time && !delta_time && !per_event_dump &&
           !header && !header_only && !dump && !checks_order && !stitch_lbr && verbose == 0 &&
           time.empty() && items.passes_all() && gate.on.empty() && gate.off.empty() &&
           pids.empty() && tids.empty() && dlfilter.empty();
  }
  [[nodiscard]] ShownTime shown_time() const {
    if (relative_time) return ShownTime::kSinceStart;
    return delta_time ? ShownTime::kSincePrevious : ShownTime::kRecorded;
  }
};

}  // namespace sonde
