// What `stat` is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/gate.h"
#include "analysis/counts/metrics.h"
#include "capture/counters/count_options.h"
#include "stat/root_ports.h"
#include "view/counting.h"

namespace sonde {

/// Everything the command line decides.
struct StatOptions {
  CountOptions count;
  view::CountGrouping grouping = view::CountGrouping::kAll;
  bool scale = true;                 // --no-scale
  bool no_merge = false;             // --no-merge
  bool hybrid_merge = false;         // --hybrid-merge
  bool percore_show_thread = false;  // --percore-show-thread
  bool freeze_on_smi = false;        // --smi-cost
  std::vector<std::string> metrics;  // -M, by their names in metrics.def
  std::vector<RootPort> root_ports;  // --iostat: whose traffic the events count, if any
  bool list_root_ports = false;      // --iostat=list: only shows them
  int runs = 1;                      // -r; 0: until Ctrl-C
  bool runs_given = false;
  std::string pre, post;  // --pre, --post
  bool sync = false;      // -S

  std::optional<std::string> separator;  // -x
  int json = 0;                          // 1: -j; 2: --json=2
  bool big_num = true;                   // -B
  bool metric_only = false;              // --metric-only
  bool run_table = false;                // --table
  bool interval_clear = false;           // --interval-clear
  bool summary = false;                  // --summary
  bool csv_summary_column = true;        // --no-csv-summary
  bool quotes_formulas = false;          // -x: of threads and cgroups (base/csv.h)
  std::string output;                    // -o
  bool append = false;                   // --append
  std::optional<int> log_fd;             // --log-fd

  std::string vs;           // --vs: the other command
  std::string compare;      // --compare: a file made by --save, or a command
  std::string save;         // --save
  std::vector<Gate> gates;  // --gate
  bool markdown = false;    // --markdown

  /// Those of -M's metrics that are not in metrics.def.
  std::vector<CountFormula> formulas;

  [[nodiscard]] bool compares() const { return !vs.empty() || !compare.empty(); }
};

}  // namespace sonde
