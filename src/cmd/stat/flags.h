// The flags of `stat` and `stat record`: from the command line to StatOptions.
//
// Options that refer to events (-e, --filter, -G, -M …) are left to an EventSelection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/opening/event_selection.h"
#include "cli/flags.h"
#include "stat/options.h"
#include "view/counting.h"

namespace sonde {

/// The options that choose the unit counts are added up by, and that also apply to a file of
/// counts: -A, --per-core … `grouping` is a CountGrouping or an optional one.
template <typename Grouping>
void declare_unit_flags(FlagTable& flags, Grouping& grouping) {
  using view::CountGrouping;
  auto choose = [&](char letter, const char* name, CountGrouping value, const char* help) {
    flags.choose(letter, name, grouping, Grouping(value), help);
  };
  choose('A', "no-aggr", CountGrouping::kCpu, "a row for each CPU, instead of the sum of all");
  choose(0, "per-core", CountGrouping::kCore, "a row for each core, with the sum of its CPUs");
  choose(0, "per-die", CountGrouping::kDie, "a row for each die of a processor");
  choose(0, "per-socket", CountGrouping::kSocket, "a row for each socket");
  choose(0, "per-node", CountGrouping::kNode, "a row for each NUMA node");
  choose(0, "per-cache", CountGrouping::kCache,
         "a row for each set of CPUs that share their largest cache");
}

class StatFlags {
 public:
  void declare(FlagTable& flags);
  Result<> configure(const Config& config);

  /// Errors: kUsage and kBadEvent in perf's words, kUnsupported for what this machine or this tool
  /// cannot do. `arguments` is the command to run.
  Result<StatOptions> finalize(Env& env, const Arguments& arguments, bool recording);

  /// --iostat: "list", or root ports, "" for all.
  void measure_root_ports(std::string ports) { root_ports_ = std::move(ports); }

  /// What `report` inherits from the flags before it.
  [[nodiscard]] const StatOptions& as_given() const { return options_; }

 private:
  void declare_events(FlagTable& flags);
  void declare_targets(FlagTable& flags);
  void declare_grouping(FlagTable& flags);
  void declare_output(FlagTable& flags);
  void declare_run(FlagTable& flags);
  void declare_metrics(FlagTable& flags);
  void declare_comparison(FlagTable& flags);

  Result<> finalize_target(const Arguments& arguments);
  Result<> finalize_comparison(bool recording);
  Result<> finalize_events(Env& env);
  Result<> finalize_root_ports(Env& env, bool recording);
  Result<> add_metrics(std::string_view list, Env& env);
  Result<> add_special_events(Env& env);
  Result<> add_smi_events(Env& env);
  Result<> add_topdown_events(Env& env);
  Result<> expand_cgroups();
  void keep_core_kind();
  Result<> keep_pmu();
  Result<> refuse_conflicts(const Env& env, bool recording) const;

  StatOptions options_;
  EventSelection selection_{/*counting=*/true};
  std::optional<bool> big_num_;
  std::optional<std::string> root_ports_;
  std::string for_each_cgroup_, core_kind_, pmu_filter_;
  std::optional<uint64_t> interval_ms_, interval_count_, timeout_ms_;
  std::optional<int> topdown_level_, runs_;
  int detail_ = 0;
  bool null_run_ = false, topdown_ = false, smi_cost_ = false, transaction_ = false;
  bool metric_no_group_ = false, metric_no_merge_ = false;
};

}  // namespace sonde
