// What `trace` is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/recorders/record_options.h"
#include "replay/fields/event_window.h"
#include "symbol/dso_symbols.h"
#include "trace/arguments/arg_text.h"
#include "trace/views/call_filter.h"
#include "trace/views/summary_text.h"

namespace sonde {

enum class FaultKinds : uint8_t { kNone, kMajor, kMinor, kAll };

struct TraceOptions {
  RecordOptions record;  // target, rings, delay; its events: those of -e that are no system calls
  std::string input;     // -i; empty: live
  std::string output;    // -o; empty: standard error
  bool force = false;    // -f

  CallFilter calls;
  bool wants_calls = true;                   // --no-syscalls, and -e with events alone
  std::vector<std::string> recorded_events;  // -i: events of -e, as globs over recorded names
  bool chooses = false;                      // -e was given
  FaultKinds faults = FaultKinds::kNone;
  bool runtime = false;            // --sched
  std::vector<uint32_t> not_pids;  // --filter-pids
  std::string cgroup_of_all;       // -G before any -e

  bool summary = false, summary_only = false;  // -S, -s
  SummaryOptions tables;
  bool full_time = false;  // -T
  bool show_comm = true;
  ArgStyle style;
  bool show_duration = true;
  bool show_timestamp = true;  // of calls and faults; events always have one, as with perf
  size_t result_column = 70;   // trace.args_alignment
  bool failed_only = false;
  uint64_t min_duration_ns = 0;
  bool kernel_text = false;  // --libtraceevent_print
  bool print_samples = false;
  std::string map_dump;     // --map-dump: a map of the BPF programs
  bool tool_stats = false;  // --tool_stats: where names of descriptors came from
  uint64_t max_events = 0;
  std::optional<uint32_t> max_stack, min_stack;
  bool kernel_call_chains = false;  // --kernel-syscall-graph
  EventWindow::Choice gate;
  SymbolOptions symbols;
  std::optional<bool> bpf;  // --bpf, --no-bpf
  int verbose = 0;
};

}  // namespace sonde
