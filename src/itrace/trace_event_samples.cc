// What Synthesizer makes of that which a trace tells besides branches: interrupts and why they
// came, the interrupt flag, and what the processor wrote down of itself.
#include "itrace/branch_flags.h"
#include "itrace/kernel_code.h"
#include "itrace/synthesizer.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {

void Synthesizer::control_flow(const pt::ControlFlowEvent& event, std::optional<uint64_t> ip,
                               uint64_t now) {
  constexpr unsigned kVectorShift = 8, kCountShift = 16;
  constexpr uint32_t kHasIp = 0x80;
  told_.goes_on(ip.value_or(stopped_at_));
  put_counted(0);
  if (ip) finish_branch(*ip, 0, now);
  last_.reset();
  EventId id = made_.told[static_cast<size_t>(TraceEventKind::kEvt)];
  if (!id.valid()) return;
  raw_.clear();
  append_trace_event(
      TraceEventKind::kEvt,
      {event.type | (event.has_ip ? kHasIp : 0) | uint32_t{event.vector} << kVectorShift |
           static_cast<uint32_t>(event.data.size()) << kCountShift,
       0},
      raw_);
  for (const pt::EventDatum& datum : event.data)
    append_trace_event_datum({datum.type, datum.payload}, raw_);
  TakenBranch what{ip.value_or(stopped_at_), event.to.value_or(0), 0, 0};
  if (event.is_interrupt) {
    what.flags = flags_of_interrupt(event.to.has_value(), event.ends_tracing);
    if (tells_interrupt_flag_ && event.allows_interrupts && *event.allows_interrupts == masked_)
      what.flags |= kTraceMaskChanges;
  }
  put(id, what, 1, now, raw_.view());
}

void Synthesizer::interrupt_flag(bool allows, pt::FlagChange how, std::optional<uint64_t> ip,
                                 uint64_t now) {
  if (!tells_interrupt_flag_) return;
  if (how == pt::FlagChange::kByBranch) {
    mask_changes_ = allows == masked_;
    return;
  }
  put_counted(0);
  if (how == pt::FlagChange::kAtPlace && allows == masked_) {
    told_.goes_on(ip.value_or(stopped_at_));
    if (ip) finish_branch(*ip, 0, now);
    last_.reset();
    put_mask_change({ip.value_or(stopped_at_), 0, 0, 0}, now);
  }
  mask_changes_ = false;
  masked_ = !allows;
}

/// The interrupt flag's, by a branch or at a place.
void Synthesizer::put_mask_change(TakenBranch what, uint64_t now) {
  constexpr uint32_t kViaBranch = 2;
  EventId id = made_.told[static_cast<size_t>(TraceEventKind::kInterruptFlag)];
  if (!id.valid()) return;
  raw_.clear();
  bool by_branch = (what.flags & kTraceBranch) != 0;
  append_trace_event(TraceEventKind::kInterruptFlag,
                     {(masked_ ? 1u : 0u) | (by_branch ? kViaBranch : 0), what.to}, raw_);
  what.flags |= kTraceMaskChanges;
  put(id, what, 1, now, raw_.view());
}

void Synthesizer::items(const pt::BlockItems& items, std::optional<uint64_t> ip, uint64_t now) {
  if (pebs_.empty()) return;
  if (ip && last_) {
    told_.goes_on(*ip);
    put_counted(0);
    finish_branch(*ip, 0, now);
    last_.reset();
  }
  using pt::BlockItems;
  using pt::BlockType;
  auto tsc = items.get(BlockType::kBasic, BlockItems::kTimestamp);
  uint64_t time = clock_.to_ns(tsc.value_or(now));
  if (uint64_t unknown = pebs_.find(items, time, origins_); unknown > 0)
    nameless_pebs_.add(unknown,
                       "in an instruction trace, of one of several events with aux-output");
  auto rip = items.get(BlockType::kRegisters, BlockItems::kRip);
  // That of the packets is where the processor was when it wrote this.
  uint64_t place =
      items.get(BlockType::kBasic, BlockItems::kIp).value_or(rip.value_or(ip.value_or(0)));
  for (const PebsOrigins::Origin& origin : origins_) put_pebs(origin, items, place, time);
}

void Synthesizer::items_cut(uint64_t records) {
  if (!pebs_.empty()) data_errors_.add(records, "a sample in an instruction trace is cut off");
}

void Synthesizer::put_pebs(const PebsOrigins::Origin& origin, const pt::BlockItems& items,
                           uint64_t ip, uint64_t time_ns) {
  if (to_skip_ > 0) {
    --to_skip_;
    return;
  }
  const EventDesc& desc = events_[origin.event];
  Sample sample;
  sample.id.time = time_ns;
  TaskTimeline::Task task = tasks_.task_at(time_ns);
  sample.id.pid = task.pid;
  sample.id.tid = task.tid;
  sample.id.cpu = cpu_;
  sample.id.id = sample.id.stream_id = origin.id;
  sample.ip = ip;
  // Nobody knows the period that a frequency led to.
  sample.period = desc.attr.freq != 0 ? 1 : desc.attr.sample_period;
  sample.misc = static_cast<uint16_t>((is_kernel_address(ip) ? abi::kMiscKernel : abi::kMiscUser) |
                                      abi::kMiscExactIp);
  pebs_fields_.put(items, desc.attr, sample);
  const TaskFlow& flow = flow_of(task);
  TraceDetails details;
  if (follows_calls_) details.depth = static_cast<uint32_t>(flow.calls.depth());
  // Without g it is the address alone.
  if (desc.attr.samples(abi::kSampleCallchain))
    put_chain(sample, options_.chains ? flow.calls.calls() : std::span<const CallStack::Call>());
  if (options_.branch_stacks && desc.attr.samples(abi::kSampleBranchStack) && !sample.has_branches)
    put_branches(sample, flow);
  record_.clear();
  if (!encode_sample(sample, desc.attr, record_)) return;
  append_trace_details(details, 0, record_);
  sink_(record_.view());
}

}  // namespace sonde::itrace
