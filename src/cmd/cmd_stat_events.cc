// Which events `stat` counts: those of -e and -M, or the ones that everybody wants to see; for each
// cgroup where that is asked for.
#include <dirent.h>
#include <regex.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "analysis/metrics.h"
#include "base/text.h"
#include "capture/synthesis_cgroup.h"
#include "cmd/cmd_stat_flags.h"
#include "event/event_parser.h"

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

Result<> parse_into(EventList& list, std::string_view text, Env& env) {
  PmuCatalog pmus;
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  EventSources sources{.pmus = pmus, .tracefs = tracefs, .tool = env.tool, .counting = true};
  return parse_events(text, sources, list);
}

/// All cgroups below `directory`, as paths from the hierarchy's root.
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

/// The cgroups whose whole path matches one of the list's regular expressions.
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
    regex_t compiled;
    if (::regcomp(&compiled, ("^(" + name + ")$").c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      return fail(ErrorCode::kUsage, "--for-each-cgroup: '{}' is no regular expression", name);
    for (const std::string& cgroup : all)
      if (::regexec(&compiled, cgroup.c_str(), 0, nullptr, 0) == 0 &&
          std::ranges::find(chosen, cgroup) == chosen.end())
        chosen.push_back(cgroup);
    ::regfree(&compiled);
  }
  if (chosen.empty()) return fail(ErrorCode::kUsage, "no cgroup matched: {}", list);
  return chosen;
}

}  // namespace

Result<> StatFlags::settle_events(Env& env) {
  for (const EventAction& action : event_actions_) TRY(apply(action, env));
  TRY(add_special_events(env));
  EventList& events = options_.count.events;
  if (null_run_) {
    events = {};
    return {};
  }
  if (events.empty()) TRY(parse_into(events, default_events(options_.count.target.has_cpu()), env));
  for (int level = 0; level < std::min(detail_, 3); ++level)
    TRY(parse_into(events, kDetails[level], env));
  keep_core_kind();
  if (!core_kind_.empty() && !exists("/sys/bus/event_source/devices/cpu_" + core_kind_))
    return fail(ErrorCode::kUsage, "--cputype {} is not supported!", core_kind_);
  return expand_cgroups();
}

Result<> StatFlags::apply(const EventAction& action, Env& env) {
  switch (action.kind) {
    case EventAction::Kind::kEvent:
      return parse_into(options_.count.events, action.text, env);
    case EventAction::Kind::kFilter:
      return options_.count.events.add_filter(action.text);
    case EventAction::Kind::kCgroup:
      return add_cgroups(action.text);
    case EventAction::Kind::kMetric:
      return add_metrics(action.text, env);
  }
  return {};
}

/// Cgroups go to the events that have none yet, in order; a single one to all of them.
Result<> StatFlags::add_cgroups(std::string_view list) {
  std::vector<std::string>& cgroups = options_.count.cgroups;
  size_t events = options_.count.events.size();
  if (events == 0) return fail(ErrorCode::kUsage, "must define events before cgroups");
  std::vector<std::string_view> names = split(list, ',');
  if (cgroups.size() + names.size() > events)
    return fail(ErrorCode::kUsage, "-G {}: there are more cgroups than events before it", list);
  for (std::string_view name : names) cgroups.emplace_back(name);
  if (names.size() == 1) cgroups.resize(events, std::string(names[0]));
  return {};
}

/// The events of each metric, counted together where the hardware can.
Result<> StatFlags::add_metrics(std::string_view list, Env& env) {
  std::vector<std::string> counted;
  for (std::string_view name : split(list, ',')) {
    const MetricInfo* metric = find_metric(name);
    if (metric == nullptr) {
      std::vector<std::string> known;
      for (const MetricInfo& other : all_metrics()) known.emplace_back(other.name);
      return fail(ErrorCode::kBadEvent, "Cannot find metric or group `{}'\nThere are: {}", name,
                  join(known, " "));
    }
    options_.metrics.emplace_back(metric->name);
    std::vector<std::string> fresh;
    for (const std::string& event : metric->events)
      if (metric_no_merge_ || std::ranges::find(counted, event) == counted.end())
        fresh.push_back(event);
    if (fresh.empty()) continue;
    counted.insert(counted.end(), fresh.begin(), fresh.end());
    std::string text = join(fresh, ",");
    if (fresh.size() > 1 && !metric_no_group_) text = "{" + text + "}:W";
    TRY(parse_into(options_.count.events, text, env));
  }
  return {};
}

/// Options that stand for events which only some processors have.
Result<> StatFlags::add_special_events(Env& env) {
  const std::string events = "/sys/bus/event_source/devices/cpu/events/";
  if (transaction_) {
    if (!exists(events + "cycles-t"))
      return fail(ErrorCode::kUnsupported, "Cannot set up transaction events");
    TRY(parse_into(options_.count.events,
                   "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,cpu/el-start/,"
                   "cpu/cycles-ct/}",
                   env));
  }
  if (smi_cost_)
    return fail(ErrorCode::kUnsupported, "{}",
                exists("/sys/devices/cpu/freeze_on_smi")
                    ? "--smi-cost is not there yet: count msr/aperf/ and msr/smi/ with -e"
                    : "freeze_on_smi is not supported.");
  if (topdown_)
    return fail(ErrorCode::kUnsupported, "{}",
                exists(events + "topdown-retiring") || exists(events + "topdown-total-slots")
                    ? "--topdown is not there yet: count the events topdown-* with -e"
                    : "System does not support topdown");
  return {};
}

/// --cputype: of events that were made for both kinds of cores, the one kind.
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
