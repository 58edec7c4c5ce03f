#include "itrace/spe_samples.h"

#include <algorithm>

#include "itrace/kernel_code.h"
#include "perfdata/records/record_encoder.h"

namespace sonde::itrace {
namespace {

using Event = SpeRecord::Event;

abi::EventAttr pattern_of(const EventTable& events, const TraceInput& input) {
  auto trace = std::ranges::find_if(
      events.all(), [&](const EventDesc& event) { return event.attr.type == input.pmu_type; });
  const abi::EventAttr& of_trace =
      trace == events.all().end() ? events.all().front().attr : trace->attr;
  abi::EventAttr pattern{};
  pattern.type = abi::kTypeHardware;
  pattern.size = of_trace.size;
  pattern.sample_type =
      of_trace.sample_type & (abi::kSampleIdentifier | abi::kSampleId | abi::kSampleStreamId |
                              abi::kSampleCpu | abi::kSampleTime);
  if (!input.per_cpu) pattern.sample_type &= ~uint64_t{abi::kSampleCpu};
  pattern.sample_type |= abi::kSampleIp | abi::kSampleTid | abi::kSampleAddr | abi::kSamplePeriod |
                         abi::kSampleWeight | abi::kSampleDataSrc | abi::kSamplePhysAddr;
  pattern.read_format = of_trace.read_format;
  pattern.sample_id_all = of_trace.sample_id_all;
  pattern.exclude_user = of_trace.exclude_user;
  pattern.exclude_kernel = of_trace.exclude_kernel;
  pattern.exclude_hv = of_trace.exclude_hv;
  pattern.exclude_host = of_trace.exclude_host;
  pattern.exclude_guest = of_trace.exclude_guest;
  return pattern;
}

}  // namespace

Result<std::vector<SpeEvent>> add_spe_events(EventTable& events, const TraceInput& input,
                                             const ItraceOptions& options) {
  bool counts = options.is_given && options.instructions;
  if (counts && options.unit != PeriodUnit::kInstructions)
    return fail(ErrorCode::kUnsupported,
                "--itrace=i: of Arm SPE's records every nth can be had, not by time: i1i, i100i …");
  abi::EventAttr pattern = pattern_of(events, input);
  pattern.sample_period = counts ? options.period : 1;
  uint64_t id = first_own_id(events, input);
  std::vector<SpeEvent> made;
  auto add = [&](bool wanted, const char* name, SpeEvent what, uint64_t config = 0) {
    if (!wanted) return;
    EventDesc desc;
    desc.attr = pattern;
    desc.attr.config = config;
    desc.name = name;
    desc.ids = {id++};
    what.event = events.add(std::move(desc));
    made.push_back(what);
  };
  bool all = !options.is_given;
  add(all || options.first_level, "l1d-miss", {.any_of = Event::kL1Refill});
  add(all || options.first_level, "l1d-access", {.any_of = Event::kL1Access});
  add(all || options.last_level, "llc-miss", {.any_of = Event::kLastLevelMiss});
  add(all || options.last_level, "llc-access", {.any_of = Event::kLastLevelAccess});
  add(all || options.tlb, "tlb-miss", {.any_of = Event::kTlbWalk});
  add(all || options.tlb, "tlb-access", {.any_of = Event::kTlbAccess});
  add(all || options.branches || options.calls || options.returns, "branch-miss",
      {.any_of = Event::kMispredicted});
  add(all || options.remote, "remote-access", {.any_of = Event::kRemoteAccess});
  add(all || options.memory, "memory", {.is_access = true});
  add(counts, "instructions", {.is_periodic = true}, abi::kHwInstructions);
  return made;
}

SpeSamples::SpeSamples(const EventTable& events, const std::vector<SpeEvent>& made,
                       const ItraceOptions& options, const TraceInput& input,
                       const TraceQueue& queue, const Machine& machine, const RecordSink& sink)
    : events_(events),
      made_(made),
      input_(input),
      machine_(machine),
      sink_(sink),
      cpu_(queue.cpu),
      period_(std::max<uint64_t>(options.period, 1)),
      to_skip_(options.skipped),
      tasks_(input, queue.cpu, queue.tid, machine) {}

void SpeSamples::follow(Bytes trace) {
  SpeReader reader(trace);
  for (SpeRecord record; reader.next(record);) take(record);
  bad_bytes_ += reader.bad_bytes();
}

void SpeSamples::take(const SpeRecord& record) {
  // A record without a time happened after those before it.
  if (record.time) now_ = input_.clock.to_ns(*record.time);
  if (record.context) {
    const Machine::Thread* thread = machine_.thread(*record.context);
    context_ = {thread != nullptr ? thread->pid : *record.context, *record.context};
  }
  ++records_;
  for (const SpeEvent& made : made_) {
    bool happened = made.is_periodic ? records_ % period_ == 0
                    : made.is_access ? record.is_access()
                                     : record.has(made.any_of);
    if (!happened) continue;
    bool is_branch = made.any_of == Event::kMispredicted;
    put(made.event, record, is_branch ? record.target : record.virtual_address,
        made.is_periodic ? period_ : 1);
  }
}

void SpeSamples::put(EventId event, const SpeRecord& record, uint64_t address, uint64_t period) {
  if (to_skip_ > 0) {
    --to_skip_;
    return;
  }
  const EventDesc& desc = events_[event];
  Sample sample;
  sample.id.time = now_;
  TaskTimeline::Task task = context_ ? *context_ : tasks_.task_at(now_);
  sample.id.pid = task.pid;
  sample.id.tid = task.tid;
  sample.id.cpu = cpu_;
  sample.id.id = sample.id.stream_id = desc.ids.front();
  sample.ip = record.ip;
  sample.addr = address;
  sample.phys_addr = record.physical_address;
  sample.data_src = spe_data_source(record, input_.midr);
  sample.weight = record.latency;
  sample.period = period;
  sample.misc = is_kernel_address(record.ip) ? abi::kMiscKernel : abi::kMiscUser;
  record_.clear();
  if (encode_sample(sample, desc.attr, record_)) sink_(record_.view());
}

void SpeSamples::report(LossLedger& losses) const {
  if (bad_bytes_ > 0)
    losses.add(LossKind::k_bad_trace, bad_bytes_, "bytes that are no packet of Arm SPE");
}

}  // namespace sonde::itrace
