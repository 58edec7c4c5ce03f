#include "stepping/step_event.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <ctime>

#include "event/pmu/pmu.h"

namespace sonde {

bool is_stepped(const EventList& events) {
  return std::ranges::any_of(events.events(), [](const ParsedEvent& event) {
    return event.attr.type == kSteppingPmuType;
  });
}

std::vector<EventDesc> step_event_descriptions(const std::string& name) {
  abi::EventAttr attr;
  attr.sample_type = abi::kSampleIdentifier | abi::kSampleTid | abi::kSampleTime | abi::kSampleCpu;
  attr.sample_period = 1;
  attr.read_format = abi::kFormatId | abi::kFormatLost;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;

  EventDesc trace;
  trace.attr = attr;
  trace.attr.type = kSteppingPmuType;
  trace.attr.config = kPtEnabled | kPtTsc | kPtNoReturnCompression | kPtBranches;
  trace.attr.sample_type |= abi::kSampleIp;
  trace.attr.disabled = trace.attr.enable_on_exec = 1;
  trace.attr.inherit = 1;
  trace.name = name;
  trace.ids = {kTraceEventId};
  trace.leader = EventId(size_t{0});

  EventDesc tasks;
  tasks.attr = attr;
  tasks.attr.type = abi::kTypeSoftware;
  tasks.attr.config = PERF_COUNT_SW_DUMMY;
  tasks.attr.inherit = 1;
  tasks.attr.mmap = tasks.attr.mmap2 = tasks.attr.comm = tasks.attr.comm_exec = tasks.attr.task = 1;
  tasks.name = "dummy:u";
  tasks.ids = {kTaskEventId};
  tasks.leader = EventId(size_t{1});
  return {std::move(trace), std::move(tasks)};
}

std::vector<uint64_t> step_trace_info() {
  constexpr uint64_t kShift = 0, kMultiplier = 1, kZero = 0, kHasZero = 1;
  constexpr uint64_t kHasSwitches = 0, kSnapshot = 0, kPerCpu = 0;
  constexpr uint64_t kMtcBit = 0, kMtcPeriods = 0, kTscPerCtc = 0, kCtcPerTsc = 0, kCycBit = 0;
  constexpr uint64_t kMaxRatio = 0, kFilterLength = 0;
  return {kSteppingPmuType,
          kShift,
          kMultiplier,
          kZero,
          kHasZero,
          kPtTsc,
          kPtNoReturnCompression,
          kHasSwitches,
          kSnapshot,
          kPerCpu,
          kMtcBit,
          kMtcPeriods,
          kTscPerCtc,
          kCtcPerTsc,
          kCycBit,
          kMaxRatio,
          kFilterLength};
}

}  // namespace sonde
