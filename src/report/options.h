// What a report is asked for: by the command line of `report`, by `diff`, `top` and the browser.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annotate/listing_builder.h"
#include "base/error.h"
#include "itrace/options.h"
#include "profile/path_frames.h"
#include "replay/fields/event_window.h"
#include "replay/session.h"
#include "symbol/symbolizer.h"
#include "view/call_tree.h"

namespace sonde::report {

/// -g: what call graphs show.
struct CallGraphOptions {
  bool given = false;
  view::GraphStyle style = view::GraphStyle::kAbsolute;
  double min_percent = 0.5;
  uint64_t print_limit = 0;
  bool caller_order = false;
  bool order_given = false;
  CallKey key = CallKey::kFunction;
  bool branch_history = false;  // -g branch: chains begin with the branches taken
  view::GraphValue value = view::GraphValue::kPercent;
};

/// Parses "graph,0.5,caller,function,percent" in any order; words may be abbreviated.
Result<> parse_call_graph(std::string_view text, CallGraphOptions& choice);

struct ReportOptions;
/// --percent-limit. Also applies to call graph nodes, unless a later -g says otherwise.
Result<> set_percent_limit(ReportOptions& o, std::string_view word);

struct ReportOptions {
  std::string input;  // for messages, the one that was chosen
  bool force = false;
  bool quiet = false;
  int verbose = 0;

  std::optional<std::string> sort;    // -s
  std::optional<std::string> fields;  // -F
  bool children = true;
  CallGraphOptions call_graph;
  bool inverted = false;
  uint32_t max_stack = 127;
  std::optional<std::string> parent;          // -p
  bool exclude_other = false;                 // -x
  std::optional<std::string> ignore_callees;  // regular expression
  bool hierarchy = false;
  bool group = true;
  bool group_forced = false;     // --group: also group events that were not recorded as a group
  bool group_forbidden = false;  // --no-group
  int group_sort_index = -1;
  bool stitch_lbr = false;
  std::optional<bool> branch_stack;  // -b, --no-branch-stack
  bool branch_history = false;       // call chains are those of the branches taken, by address
  bool total_cycles = false;         // rows are basic blocks, by the cycles in them
  bool memory_mode = false;
  bool show_samples = false;
  bool show_period = false;
  bool show_modes = false;      // --showcpuutilization
  bool show_intervals = false;  // --confidence
  bool latency = false;         // --latency: latencies come first
  bool raw_trace = false;
  bool nanoseconds = false;
  uint64_t time_quantum_ns = 100'000'000;
  double percent_limit = 0;
  bool relative = false;  // --percentage
  bool skip_empty = true;
  // For those who build their own tables from the rows (diff, top).
  bool only_rows = false;                                 // tables stay empty
  bool leave_out_kernel = false, leave_out_user = false;  // samples of that mode
  bool merge_lines = false;          // with branch_history: steps on one source line are one
  bool leave_out_idle = false;       // samples of functions in which CPUs wait for work
  std::vector<uint32_t> shown_cpus;  // for an open session, like -C for one to be opened
  bool ipc_beside_symbol = true;     // -s symbol also shows instructions per cycle

  // Filters.
  std::vector<std::string> comms, dsos, symbols;
  std::vector<uint32_t> pids, tids, cpus;
  std::string time;
  bool hide_unresolved = false;
  std::optional<std::string> symbol_filter;  // part of the symbol's name
  int socket = -1;
  bool shows_host = true;  // --no-host
  /// --guest: shares of guests' modes, too; --no-guest: not even their samples.
  std::optional<bool> shows_guests;
  std::vector<int> parallelism;  // levels
  EventWindow::Choice gate;

  // What is printed.
  std::optional<std::string> html;  // write the explorer's page to this file
  std::string widths;               // -w
  std::string separator;            // -t
  bool header = false;
  bool header_only = false;
  bool full_header = false;  // -I
  bool stats = false;
  bool tasks = false;
  bool mmaps = false;
  bool dump = false;          // -D
  bool threads = false;       // -T
  bool raw_counters = false;  // --pretty raw
  std::string color = "auto";
  std::optional<bool> browser;   // --tui, --stdio
  uint32_t browser_samples = 0;  // --samples: that many of each row can be looked at

  // Accepted for compatibility with perf.
  std::optional<bool> inlines;          // --inline, --no-inline; neither: of unwound chains
  std::optional<ItraceOptions> itrace;  // --itrace; not set: perf's default
  bool reference_graphs = false;
  std::optional<bool> check_chains;  // --check-chains; not set: unless perf's text is expected
  annotate::ListingOptions code;     // of functions opened in the browser

  SymbolOptions symbol_sources;
};

/// Sets the options of the session that a report of this kind of recording needs for branches in
/// call chains.
void choose_branch_history(const ReportOptions& o, const EventTable& events,
                           SessionOptions& session);

/// Whether samples that `--time` leaves out have a part in the rows of others: branches that follow
/// each other, the threads that run at one time, and those that end waits.
[[nodiscard]] bool joins_samples(const EventTable& events);

/// Whether an option was given, for output that cannot honour it.
struct GivenOption {
  bool is_given;
  std::string_view name;  // "--sort"
};

/// The name of the first one given; empty if none was.
[[nodiscard]] inline std::string_view first_given(std::span<const GivenOption> options) {
  for (const GivenOption& option : options)
    if (option.is_given) return option.name;
  return {};
}

}  // namespace sonde::report
