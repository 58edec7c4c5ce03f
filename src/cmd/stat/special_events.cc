// stat's options for events that only some processors have: --transaction, --topdown, --smi-cost.
// If the events are missing, the messages are perf's.
#include <unistd.h>

#include "base/text.h"
#include "capture/opening/freeze_on_smi.h"
#include "cmd/stat/flags.h"

namespace sonde {
namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";

bool has_event(std::string_view pmu, std::string_view event) {
  return ::access(fmt::format("{}/{}/events/{}", kDevices, pmu, event).c_str(), F_OK) == 0;
}

/// A group of those of the given events that this processor has.
std::string group_of(const std::vector<std::string>& events) {
  std::vector<std::string> there;
  for (const std::string& event : events)
    if (has_event("cpu", event)) there.push_back(event);
  return there.empty() ? std::string() : "{" + join(there, ",") + "}";
}

}  // namespace

Result<> StatFlags::add_special_events(Env& env) {
  if (transaction_) {
    if (!has_event("cpu", "cycles-t"))
      return fail(ErrorCode::kUnsupported,
                  "-T: this processor does not count hardware transactions (it has no event "
                  "cpu/cycles-t/); leave it out");
    TRY(selection_.parse(
        "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,cpu/el-start/,cpu/cycles-ct/}",
        options_.count.events, env));
  }
  if (smi_cost_) TRY(add_smi_events(env));
  return topdown_ ? add_topdown_events(env) : Result<>{};
}

Result<> StatFlags::add_smi_events(Env& env) {
  if (::access(FreezeOnSmi::kSetting, F_OK) != 0)
    return fail(ErrorCode::kUnsupported,
                "--smi-cost: this machine's counters cannot be stopped in system management mode");
  if (!has_event("msr", "aperf") || !has_event("msr", "smi"))
    return fail(ErrorCode::kUnsupported,
                "--smi-cost: this machine lacks msr/aperf/ or msr/smi/, events that it needs; "
                "leave it out");
  options_.metric_only = true;
  options_.freeze_on_smi = true;
  return selection_.parse("{msr/aperf/,msr/smi/,cycles}", options_.count.events, env);
}

/// Processors with slots can count the fate of each slot per task, too; older ones only per core.
Result<> StatFlags::add_topdown_events(Env& env) {
  constexpr int kLevels = 1;
  if (topdown_level_.value_or(0) > kLevels)
    return fail(ErrorCode::kUsage, "--td-level: the most detailed level is {}", kLevels);
  EventList& events = options_.count.events;
  if (has_event("cpu", "slots") && has_event("cpu", "topdown-retiring")) {
    options_.metric_only = true;
    return selection_.parse(group_of({"slots", "topdown-retiring", "topdown-bad-spec",
                                      "topdown-fe-bound", "topdown-be-bound"}),
                            events, env);
  }
  using view::CountGrouping;
  if (options_.grouping != CountGrouping::kAll && options_.grouping != CountGrouping::kCore)
    return fail(
        ErrorCode::kUsage,
        "--topdown: this processor counts slots of cores: give --per-core, or no other unit");
  if (!options_.count.target.has_cpu())
    return fail(ErrorCode::kUsage,
                "--topdown: this processor counts slots of cores, not of tasks: give -a");
  std::string group =
      group_of({"topdown-total-slots", "topdown-slots-retired", "topdown-recovery-bubbles",
                "topdown-fetch-bubbles", "topdown-slots-issued"});
  if (group.empty())
    return fail(ErrorCode::kUnsupported,
                "--topdown: this processor has no events that count issue slots (cpu/topdown-…/)");
  options_.grouping = CountGrouping::kCore;
  options_.metric_only = true;
  return selection_.parse(group, events, env);
}

}  // namespace sonde
