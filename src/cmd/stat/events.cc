// The events that `stat` counts: those of -e and -M, or the default ones; per cgroup if asked for.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "analysis/counts/metric_groups.h"
#include "analysis/counts/vendor_metrics.h"
#include "base/bounds/regex.h"
#include "base/text.h"
#include "capture/synthesis/synthesis_cgroup.h"
#include "cmd/stat/flags.h"

namespace sonde {
namespace {

constexpr std::string_view kDetails[] = {
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
    "iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::string default_events(bool system_wide) {
  std::string list = system_wide ? "cpu-clock" : "task-clock";
  list += ",context-switches,cpu-migrations,page-faults,cycles";
  for (const char* stalled : {"stalled-cycles-frontend", "stalled-cycles-backend"})
    if (exists(fmt::format("/sys/bus/event_source/devices/cpu/events/{}", stalled)))
      list += fmt::format(",{}", stalled);
  return list + ",instructions,branches,branch-misses";
}

/// Appends all cgroups below `path`, as paths from the hierarchy's root.
void collect_cgroups(const std::string& mount, const std::string& path,
                     std::vector<std::string>& found) {
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir((mount + "/" + path).c_str()), ::closedir);
  if (!open) return;
  std::vector<std::string> names;
  while (dirent* entry = ::readdir(open.get()))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::ranges::sort(names);
  for (const std::string& name : names) {
    std::string below = path.empty() ? name : path + "/" + name;
    found.push_back(below);
    collect_cgroups(mount, below, found);
  }
}

/// The cgroups whose whole path matches any of the list's regular expressions.
Result<std::vector<std::string>> matching_cgroups(std::string_view list) {
  std::optional<std::string> mount = cgroup_mount();
  if (!mount) return fail(ErrorCode::kUsage, "no cgroup hierarchy with perf_event is mounted");
  std::vector<std::string> all, chosen;
  for (std::string_view pattern : split(list, ',')) {
    std::string name(pattern);
    if (name.find_first_of("^$*+?[](){}|\\.") == std::string::npos) {
      chosen.push_back(name);
      continue;
    }
    if (all.empty()) collect_cgroups(*mount, "", all);
    Result<Regex> regex = Regex::compile("^(" + name + ")$");
    if (!regex) return fail(ErrorCode::kUsage, "--for-each-cgroup: {}", regex.error().message);
    for (const std::string& cgroup : all)
      if (regex->matches(cgroup) && std::ranges::find(chosen, cgroup) == chosen.end())
        chosen.push_back(cgroup);
  }
  if (chosen.empty())
    return fail(ErrorCode::kUsage, "--for-each-cgroup {}: no cgroup has such a name", list);
  return chosen;
}

}  // namespace

Result<> StatFlags::finalize_events(Env& env) {
  selection_.serve(options_.count.target, options_.count.verbose, env);
  options_.count.made = selection_.made();
  TRY(selection_.finalize({options_.count.events, options_.count.cgroups}, env));
  TRY(add_special_events(env));
  EventList& events = options_.count.events;
  if (null_run_) {
    events = {};
    return {};
  }
  if (events.empty())
    TRY(selection_.parse(default_events(options_.count.target.has_cpu()), events, env));
  for (int level = 0; level < std::min(detail_, 3); ++level)
    TRY(selection_.parse(kDetails[level], events, env));
  keep_core_kind();
  TRY(keep_pmu());
  if (!core_kind_.empty() && !exists("/sys/bus/event_source/devices/cpu_" + core_kind_))
    return fail(ErrorCode::kUsage, "--cputype {} is not supported!", core_kind_);
  return expand_cgroups();
}

/// Adds the events of each metric, counted together if the hardware can.
Result<> StatFlags::add_metrics(std::string_view list, Env& env) {
  std::vector<std::string> counted;
  auto add = [&](const std::vector<std::string>& events) -> Result<> {
    std::vector<std::string> fresh;
    for (const std::string& event : events)
      if (metric_no_merge_ || std::ranges::find(counted, event) == counted.end())
        fresh.push_back(event);
    if (fresh.empty()) return {};
    counted.insert(counted.end(), fresh.begin(), fresh.end());
    std::string text = join(fresh, ",");
    if (fresh.size() > 1 && !metric_no_group_) text = "{" + text + "}:W";
    return selection_.parse(text, options_.count.events, env);
  };
  for (std::string_view name : split(list, ',')) {
    auto is_new = [this](std::string_view metric) {
      return std::ranges::find(options_.metrics, metric) == options_.metrics.end();
    };
    Result<std::vector<const MetricInfo*>> own = find_metrics(name);
    if (own) {
      for (const MetricInfo* metric : *own) {
        if (!is_new(metric->name)) continue;
        options_.metrics.emplace_back(metric->name);
        TRY(add(metric->events));
      }
      continue;
    }
    std::vector<CountFormula> formulas = TRY(find_vendor_metrics(name, selection_.vendor(env)));
    if (formulas.empty()) return std::unexpected(own.error());
    for (CountFormula& formula : formulas) {
      if (!is_new(formula.name)) continue;
      options_.metrics.push_back(formula.name);
      TRY(add(events_of(formula)));
      options_.formulas.push_back(std::move(formula));
    }
  }
  return {};
}

/// --cputype: of events opened on both kinds of cores, keeps only those of one kind.
void StatFlags::keep_core_kind() {
  if (core_kind_.empty()) return;
  std::vector<ParsedEvent> kept;
  for (const ParsedEvent& event : options_.count.events.events()) {
    bool of_a_kind = event.pmu == "cpu_core" || event.pmu == "cpu_atom";
    if (of_a_kind && event.pmu != "cpu_" + core_kind_) continue;
    kept.push_back(event);
    kept.back().leader = static_cast<uint32_t>(kept.size() - 1);
  }
  options_.count.events.edit() = std::move(kept);
}

/// --pmu-filter: of events opened on several PMUs, keeps only those of one.
Result<> StatFlags::keep_pmu() {
  if (pmu_filter_.empty()) return {};
  std::vector<ParsedEvent> kept;
  for (const ParsedEvent& event : options_.count.events.events()) {
    if (!event.pmu.empty() && event.pmu != pmu_filter_) continue;
    kept.push_back(event);
    kept.back().leader = static_cast<uint32_t>(kept.size() - 1);
  }
  if (kept.empty())
    return fail(ErrorCode::kNotFound, "--pmu-filter {}: none of the events is one of this PMU",
                pmu_filter_);
  options_.count.events.edit() = std::move(kept);
  return {};
}

Result<> StatFlags::expand_cgroups() {
  if (for_each_cgroup_.empty()) return {};
  std::vector<std::string> names = TRY(matching_cgroups(for_each_cgroup_));
  const std::vector<ParsedEvent> once = options_.count.events.events();
  std::vector<ParsedEvent>& all = options_.count.events.edit();
  all.clear();
  options_.count.cgroups.clear();
  for (const std::string& name : names) {
    auto first = static_cast<uint32_t>(all.size());
    for (ParsedEvent event : once) {
      event.leader += first;
      all.push_back(std::move(event));
      options_.count.cgroups.push_back(name);
    }
  }
  return {};
}

}  // namespace sonde
