// The flags of `stat` and `stat record`: from the command line to StatOptions.
//
// As with record, what refers to events (-e, --filter, -G, -M …) is kept in order and applied by
// `settle`, when the world that events are looked up in is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/count_options.h"
#include "cmd/flags.h"
#include "view/counting.h"

namespace sonde {

/// Everything that the command line decides.
struct StatOptions {
  CountOptions count;
  view::CountGrouping grouping = view::CountGrouping::kAll;
  bool scale = true;                 // --no-scale
  bool no_merge = false;             // --no-merge
  bool hybrid_merge = false;         // --hybrid-merge
  bool percore_show_thread = false;  // --percore-show-thread
  std::vector<std::string> metrics;  // -M, by their names in metrics.def
  int runs = 1;                      // -r; 0: until Ctrl-C
  std::string pre, post;             // --pre, --post
  bool sync = false;                 // -S

  std::optional<std::string> separator;  // -x
  int json = 0;                          // 1: -j; 2: --json=2
  bool big_num = true;                   // -B
  bool metric_only = false;              // --metric-only
  bool run_table = false;                // --table
  bool interval_clear = false;           // --interval-clear
  bool summary = false;                  // --summary
  bool csv_summary_column = true;        // --no-csv-summary
  std::string output;                    // -o
  bool append = false;                   // --append
  int log_fd = -1;                       // --log-fd
};

class StatFlags {
 public:
  void declare(FlagTable& flags);
  Result<> configure(const Config& config);

  /// Errors: kUsage and kBadEvent in perf's words, kUnsupported for what this machine or this tool
  /// cannot do. `arguments` is the command to run.
  Result<StatOptions> settle(Env& env, const Arguments& arguments, bool recording);

  /// What `report` takes over from flags that stand before it.
  [[nodiscard]] const StatOptions& as_given() const { return options_; }

 private:
  struct EventAction {
    enum class Kind : uint8_t { kEvent, kFilter, kCgroup, kMetric };
    Kind kind;
    std::string text;
  };

  void declare_events(FlagTable& flags);
  void declare_targets(FlagTable& flags);
  void declare_grouping(FlagTable& flags);
  void declare_output(FlagTable& flags);
  void declare_run(FlagTable& flags);
  void declare_metrics(FlagTable& flags);
  void declare_refused(FlagTable& flags);

  Result<> settle_target(const Arguments& arguments);
  Result<> settle_events(Env& env);
  Result<> apply(const EventAction& action, Env& env);
  Result<> add_cgroups(std::string_view list);
  Result<> add_metrics(std::string_view list, Env& env);
  Result<> add_special_events(Env& env);
  Result<> expand_cgroups();
  void keep_core_kind();
  Result<> refuse_conflicts(const Env& env, bool recording) const;

  StatOptions options_;
  std::vector<EventAction> event_actions_;
  std::optional<bool> big_num_;
  std::optional<std::string> refused_;
  std::string for_each_cgroup_, core_kind_;
  std::optional<uint64_t> interval_ms_, interval_count_, timeout_ms_;
  std::optional<int> topdown_level_;
  int detail_ = 0;
  bool null_run_ = false, topdown_ = false, smi_cost_ = false, transaction_ = false;
  bool metric_no_group_ = false, metric_no_merge_ = false;
};

}  // namespace sonde
