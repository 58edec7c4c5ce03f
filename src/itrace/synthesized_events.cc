// The events that samples of a trace are made for: their names, ids and fields.
#include <algorithm>

#include "event/pmu/event_name.h"
#include "itrace/synthesizer.h"

namespace sonde::itrace {
namespace {

// perf numbers its own events from the trace's first id on.
constexpr uint64_t kFirstOwnId = 1'000'000'000;

const EventDesc* event_of_trace(const EventTable& events, uint32_t pmu_type) {
  auto found = std::ranges::find_if(
      events.all(), [&](const EventDesc& event) { return event.attr.type == pmu_type; });
  return found == events.all().end() ? nullptr : &*found;
}

}  // namespace

SynthesizedEvents add_events(EventTable& events, const TraceInput& input,
                             const ItraceOptions& options) {
  SynthesizedEvents made;
  const EventDesc* trace = event_of_trace(events, input.pmu_type);
  if (trace == nullptr) trace = &events.all().front();
  abi::EventAttr pattern{};
  pattern.size = trace->attr.size;
  pattern.sample_type = trace->attr.sample_type & (abi::kSampleIdentifier | abi::kSampleCpu |
                                                   abi::kSampleId | abi::kSampleStreamId);
  pattern.sample_type |= abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod;
  if (!input.per_cpu) pattern.sample_type &= ~uint64_t{abi::kSampleCpu};
  if (!input.has_times) pattern.sample_type &= ~uint64_t{abi::kSampleTime};
  pattern.read_format = trace->attr.read_format;
  pattern.exclude_user = trace->attr.exclude_user;
  pattern.exclude_kernel = trace->attr.exclude_kernel;
  pattern.exclude_hv = trace->attr.exclude_hv;
  pattern.exclude_host = trace->attr.exclude_host;
  pattern.exclude_guest = trace->attr.exclude_guest;
  pattern.sample_id_all = trace->attr.sample_id_all;
  pattern.type = abi::kTypeHardware;
  uint64_t id = first_own_id(events, input);
  auto add = [&](const char* name, const abi::EventAttr& attr) {
    EventDesc desc;
    desc.attr = attr;
    desc.name = name;
    desc.ids = {id++};
    return events.add(std::move(desc));
  };
  std::string modifiers = modifier_text(pattern);
  if (!modifiers.empty()) modifiers.insert(0, ":");
  pattern.sample_period = 1;
  if (options.branches || options.calls || options.returns) {
    abi::EventAttr attr = pattern;
    attr.config = abi::kHwBranchInstructions;
    attr.sample_type |= abi::kSampleAddr;
    made.branches = add(("branches" + modifiers).c_str(), attr);
  }
  if (options.chains) pattern.sample_type |= abi::kSampleCallchain;
  if (options.branch_stacks) {
    pattern.sample_type |= abi::kSampleBranchStack;
    pattern.branch_sample_type |= abi::kBranchHwIndex;
  }
  pattern.config = abi::kHwInstructions;
  if (options.instructions) {
    abi::EventAttr attr = pattern;
    attr.sample_period = options.period;
    made.instructions = add(("instructions" + modifiers).c_str(), attr);
  }
  pattern.sample_type &= ~uint64_t{abi::kSamplePeriod};
  if (options.transactions) made.transactions = add("transactions", pattern);
  abi::EventAttr attr = pattern;
  attr.type = kTypeTraceEvent;
  attr.sample_type |= abi::kSampleRaw;
  for (TraceEventKind kind : wanted_trace_events(options)) {
    if (input.tracer != Tracer::kIntelPt) break;
    if (kind == TraceEventKind::kEvt && !input.setup.traces_events) continue;
    if (kind == TraceEventKind::kInterruptFlag && !input.tells_interrupt_flag) continue;
    attr.config = static_cast<uint64_t>(kind);
    // Where the interrupt goes, or the branch that changes the flag.
    bool has_target = kind == TraceEventKind::kEvt || kind == TraceEventKind::kInterruptFlag;
    attr.sample_type = (attr.sample_type & ~uint64_t{abi::kSampleAddr}) |
                       (has_target ? uint64_t{abi::kSampleAddr} : 0);
    made.told[static_cast<size_t>(kind)] = add(name_of(kind), attr);
  }
  return made;
}

uint64_t first_own_id(const EventTable& events, const TraceInput& input) {
  const EventDesc* trace = event_of_trace(events, input.pmu_type);
  if (trace == nullptr) trace = &events.all().front();
  return kFirstOwnId + (trace->ids.empty() ? 0 : trace->ids.front());
}

bool is_synthesized(const EventDesc& event) {
  return !event.ids.empty() && event.ids.front() >= kFirstOwnId;
}

bool is_of_trace(const EventDesc& event) {
  return is_synthesized(event) || event.attr.aux_output != 0;
}

}  // namespace sonde::itrace
