#include "analysis/counts/counted_event.h"

namespace sonde {
namespace {

uint8_t excluded_by(const abi::EventAttr& attr) {
  return static_cast<uint8_t>(attr.exclude_user | attr.exclude_kernel << 1 | attr.exclude_hv << 2 |
                              attr.exclude_host << 3 | attr.exclude_idle << 4);
}

/// What a recorder itself measured. Before 6.13, perf wrote these as dummy events with a name;
/// since then as the events 1 to 3 of a PMU that no kernel has.
ToolEvent tool_event_of(const EventDesc& recorded) {
  constexpr uint32_t kToolPmuType = 0xFFFFFFFE;
  constexpr std::pair<std::string_view, ToolEvent> kInOrder[] = {
      {"duration_time", ToolEvent::kDurationTime},
      {"user_time", ToolEvent::kUserTime},
      {"system_time", ToolEvent::kSystemTime}};
  uint64_t config = recorded.attr.config;
  if (recorded.attr.type == kToolPmuType)
    return config >= 1 && config <= std::size(kInOrder) ? kInOrder[config - 1].second
                                                        : ToolEvent::kNone;
  if (recorded.attr.type != abi::kTypeSoftware || config != abi::kSwDummy) return ToolEvent::kNone;
  std::string_view name = recorded.name;
  name = name.substr(0, name.find(':'));  // "duration_time:u", if the kernel cannot be counted
  for (const auto& [known, tool] : kInOrder)
    if (name == known) return tool;
  return ToolEvent::kNone;
}

/// Clocks count nanoseconds, and so do the tool's own times.
void set_own_unit(CountedEvent& event) {
  if (!event.unit.empty()) return;
  if (event.tool != ToolEvent::kNone) {
    event.unit = "ns";
  } else if (event.is_clock()) {
    event.unit = "msec";
    event.scale = 1e-6;
  }
}

}  // namespace

CountedEvent counted_event(const ParsedEvent& parsed, std::string cgroup) {
  CountedEvent event;
  event.name = parsed.name;
  event.unit = parsed.unit;
  event.cgroup = std::move(cgroup);
  event.scale = parsed.scale;
  event.type = parsed.attr.type;
  event.config = parsed.attr.config;
  event.excluded = excluded_by(parsed.attr);
  event.tool = parsed.tool;
  event.pmu = parsed.pmu;
  event.option = parsed.option;
  event.percore = parsed.terms.percore;
  event.per_package = parsed.per_package;
  event.snapshot = parsed.snapshot;
  set_own_unit(event);
  return event;
}

CountedEvent counted_event(const EventDesc& recorded) {
  CountedEvent event;
  event.name = recorded.name;
  event.unit = recorded.unit;
  event.scale = recorded.scale;
  event.type = recorded.attr.type;
  event.config = recorded.attr.config;
  event.excluded = excluded_by(recorded.attr);
  event.tool = tool_event_of(recorded);
  set_own_unit(event);
  return event;
}

}  // namespace sonde
