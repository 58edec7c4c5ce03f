#include "itrace/synthesizer.h"

#include <algorithm>
#include <utility>

#include "event/pmu/event_name.h"
#include "itrace/kernel_code.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {
namespace {

// perf numbers its own events from the trace's first id on.
constexpr uint64_t kFirstOwnId = 1'000'000'000;
constexpr uint32_t kErrorFromTrace = 1;  // AUXTRACE_ERROR: an instruction trace's

const EventDesc* event_of_trace(const EventTable& events, uint32_t pmu_type) {
  auto found = std::ranges::find_if(
      events.all(), [&](const EventDesc& event) { return event.attr.type == pmu_type; });
  return found == events.all().end() ? nullptr : &*found;
}

uint32_t far_call_flags(const pt::Instruction& i) {
  constexpr uint8_t kTwoByte = 0x0f, kSyscall = 0x05, kSysenter = 0x34;
  bool is_syscall = i.size >= 2 && i.bytes[i.size - 2] == kTwoByte &&
                    (i.bytes[i.size - 1] == kSyscall || i.bytes[i.size - 1] == kSysenter);
  return kTraceBranch | kTraceCall | (is_syscall ? kTraceSyscall : kTraceInterrupt);
}

uint32_t far_return_flags(const pt::Instruction& i) {
  constexpr uint8_t kIret = 0xcf;
  bool is_iret = i.size >= 1 && i.bytes[i.size - 1] == kIret;
  return kTraceBranch | kTraceReturn | (is_iret ? kTraceInterrupt : kTraceSyscall);
}

/// Without a target, all that is known is that tracing ends.
uint32_t flags_of_interrupt(bool has_target, bool ends_tracing) {
  if (!has_target) return kTraceBranch | kTraceEnd;
  return kTraceBranch | kTraceCall | kTraceAsync | kTraceInterrupt | (ends_tracing ? kTraceEnd : 0);
}

}  // namespace

uint32_t flags_of(const pt::Instruction& instruction) {
  switch (instruction.kind) {
    case pt::InstructionKind::kCall:
      return kTraceBranch | kTraceCall;
    case pt::InstructionKind::kReturn:
      return kTraceBranch | kTraceReturn;
    case pt::InstructionKind::kJump:
    case pt::InstructionKind::kFarJump:
      return kTraceBranch;
    case pt::InstructionKind::kConditional:
      return kTraceBranch | kTraceConditional;
    case pt::InstructionKind::kSystemCall:
      return kTraceBranch | kTraceCall | kTraceSyscall;
    case pt::InstructionKind::kFarCall:
      return far_call_flags(instruction);
    case pt::InstructionKind::kFarReturn:
      return far_return_flags(instruction);
    case pt::InstructionKind::kOther:
    case pt::InstructionKind::kPtWrite:
      return 0;
  }
  return 0;
}

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

Synthesizer::Synthesizer(const EventTable& events, const SynthesizedEvents& made,
                         const ItraceOptions& options, const TraceInput& input, uint32_t cpu,
                         TaskTimeline& tasks, RecordSink sink, LateSamples late, PebsOrigins pebs)
    : events_(events),
      made_(made),
      options_(options),
      clock_(input.clock),
      cpu_(cpu),
      tasks_(tasks),
      sink_(std::move(sink)),
      to_skip_(options.skipped),
      told_(made.told, input,
            [this](EventId event, uint64_t ip, Bytes raw, uint64_t now) {
              put(event, {ip, 0, 0, 0}, 1, now, raw);
            }),
      period_clock_(options.unit == PeriodUnit::kNanoseconds ? input.clock.to_ticks(options.period)
                                                             : options.period),
      late_(late),
      pebs_(std::move(pebs)),
      keeps_branches_(options.branch_stacks || options.branch_stacks_for_others),
      follows_calls_(made.branches.valid() || options.chains || options.branch_stacks ||
                     !late.empty()),
      branch_time_ns_(input.clock.to_ns(0)),
      tells_interrupt_flag_(input.tells_interrupt_flag) {
  bool wants_cycles = options.counts_cycles || options.approximate_ipc;
  if (!wants_cycles || input.setup.counts_cycles || !input.has_mtc) return;
  estimate_ = CycleEstimate(base_ratio(input));
  options_.approximate_ipc = true;  // no packet tells where cycles belong
}

void Synthesizer::instruction(const pt::Instruction& instruction, uint64_t now) {
  told_.goes_on(instruction.ip);
  put_counted(0);
  finish_branch(instruction.ip, 0, now);
  in_transaction_ = instruction.in_transaction;
  progress_.is_new = false;
  count(instruction, now);
  last_ = instruction;
}

void Synthesizer::ran(const pt::Block& block, pt::BlockSizes& sizes, uint64_t now) {
  told_.goes_on(block.ip);
  put_counted(0);
  finish_branch(block.ip, 0, block.count > 1 ? block.began : now);
  in_transaction_ = block.last.in_transaction;
  progress_.is_new = false;
  if (estimate_.is_on() && block.count > 1) progress_.cycles = estimate_.total(block.began);
  uint32_t before_last = block.count - 1;
  if (!made_.instructions.valid())
    progress_.instructions += before_last;
  else if (may_be_due(before_last, block.began))
    count_some(block.ip, sizes.of(block).first(before_last), block.began);
  count(block.last, now);
  last_ = block.last;
}

pt::FlowObserver::Indifference Synthesizer::indifference(uint64_t now) {
  if (made_.branches.valid() || keeps_branches_) return {};
  return {made_.instructions.valid() ? instructions_until_due(now) : UINT64_MAX, !follows_calls_};
}

void Synthesizer::skipped(uint64_t ip, uint64_t count, const pt::Instruction& last, uint64_t now) {
  told_.goes_on(ip);
  put_counted(0);
  finish_branch(ip, 0, now);
  in_transaction_ = last.in_transaction;
  if (made_.instructions.valid()) (void)may_be_due(count, now);
  last_ = last;
}

/// The successor of the latest instruction is known now.
void Synthesizer::finish_branch(uint64_t to, uint32_t more_flags, uint64_t now) {
  if (!last_) return;
  uint32_t flags = flags_of(*last_);
  bool falls_through = to == last_->ip + last_->size;
  if ((flags == 0 || ((flags & kTraceConditional) != 0 && falls_through)) && more_flags == 0)
    return;
  if (in_transaction_) flags |= kTraceInTransaction;
  branch({last_->ip, to, flags | more_flags, last_->size}, now);
}

/// What just happened is what the cycles led to.
void Synthesizer::spend_cycles() {
  if (cycles_ahead_ == 0) return;
  progress_.cycles += std::exchange(cycles_ahead_, 0);
  progress_.is_new = true;
}

/// The next sample tells the cycles since `before`, if they are known.
void Synthesizer::note_ipc(Progress& before) {
  details_ = {};
  if (!progress_.is_new && !options_.approximate_ipc) return;
  if (progress_.cycles == before.cycles) return;
  details_.cycles = static_cast<uint32_t>(progress_.cycles - before.cycles);
  details_.instructions = static_cast<uint32_t>(progress_.instructions - before.instructions);
  before = progress_;
}

void Synthesizer::enabled(uint64_t ip, uint64_t now) {
  told_.goes_on(stopped_at_);  // what happened while nothing was traced
  put_counted(0);
  last_.reset();
  spend_cycles();
  if (estimate_.is_on()) estimate_.begin(now);
  branch({0, ip, kTraceBranch | kTraceBegin, 0}, now);
}

void Synthesizer::disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) {
  if (at || last_) stopped_at_ = at ? *at : last_->ip;
  told_.goes_on(stopped_at_);
  put_counted(at ? 0 : kTraceEnd);
  if (at) {
    finish_branch(*at, 0, now);
    spend_cycles();
    branch({*at, to.value_or(0), flags_of_interrupt(to.has_value(), true), 0}, now);
  } else {
    spend_cycles();
    finish_branch(to.value_or(0), kTraceBranch | kTraceEnd, now);
  }
  last_.reset();
  if (estimate_.is_on()) estimate_.pause(now);
  period_clock_.pause();
}

void Synthesizer::interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) {
  put_counted(0);
  finish_branch(from, 0, now);
  last_.reset();
  spend_cycles();
  branch({from, to.value_or(0), flags_of_interrupt(to.has_value(), false), 0}, now);
}

void Synthesizer::transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) {
  put_counted(0);
  in_transaction_ = begins;
  if (made_.transactions.valid() && ip)
    put(made_.transactions, {*ip, 0, aborted ? kTraceBranch | kTraceAbort : 0, 0}, 1, now);
}

void Synthesizer::ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now) {
  told_.ptwrite(ip, value, now);
}

void Synthesizer::power(const pt::PowerEvent& event, std::optional<uint64_t> ip, uint64_t now) {
  told_.power(event, ip, now);
}

void Synthesizer::core_frequency(uint32_t ratio, uint64_t now) {
  told_.core_frequency(ratio, now);
  if (estimate_.is_on()) estimate_.set_ratio(ratio, now);
}

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

bool Synthesizer::wants(uint32_t flags) const {
  constexpr uint32_t kOfCalls = kTraceCall | kTraceAsync | kTraceEnd;
  constexpr uint32_t kOfReturns = kTraceReturn | kTraceBegin;
  if (!options_.calls && !options_.returns) return true;
  return (options_.calls && (flags & kOfCalls) != 0) ||
         (options_.returns && (flags & kOfReturns) != 0);
}

void Synthesizer::branch(const TakenBranch& branch, uint64_t now) {
  if (!mask_changes_) return plain_branch(branch, now);
  mask_changes_ = false;
  TakenBranch changing = branch;
  put_mask_change(changing, now);
  changing.flags |= kTraceMaskChanges;
  plain_branch(changing, now);
  masked_ = !masked_;
}

void Synthesizer::plain_branch(const TakenBranch& branch, uint64_t now) {
  if (!follows_calls_) return;
  constexpr uint32_t kOfCalls = kTraceCall | kTraceReturn | kTraceBegin;
  if (!made_.branches.valid() && !keeps_branches_ && (branch.flags & kOfCalls) == 0) return;
  if (now != branch_now_) {
    branch_now_ = now;
    branch_time_ns_ = clock_.to_ns(now);
  }
  uint64_t time = branch_time_ns_;
  if (late_.is_due(time)) put_late(time);
  TaskTimeline::Task task = tasks_.task_at(time);
  TaskFlow& flow = flow_of(task);
  if (keeps_branches_) {
    if (flow.calls.trace() != task.trace) flow.branches.clear();
    flow.branches.add(branch);
  }
  flow.calls.take(branch, task.trace, time);
  if (!made_.branches.valid() || !wants(branch.flags)) return;
  note_ipc(before_branch_);
  put(made_.branches, branch, 1, now);
}

/// Samples of other events that were taken before.
void Synthesizer::put_late(uint64_t time_ns) {
  while (late_.is_due(time_ns)) {
    const TaskFlow& flow = flow_of({0, late_.tid()});
    late_.take(flow.calls, flow.branches);
  }
}

Synthesizer::TaskFlow& Synthesizer::flow_of(const TaskTimeline::Task& task) {
  if (flow_ != nullptr && flow_tid_ == task.tid) return *flow_;
  auto [entry, is_new] = flows_.try_emplace(task.tid);
  if (is_new && keeps_branches_) entry.value().branches = BranchRing(options_.branch_stack_size);
  flow_tid_ = task.tid;
  flow_ = &entry.value();
  return *flow_;
}

/// Whether one of the next instructions, at the same time, is to be sampled. If none is, they are
/// counted.
bool Synthesizer::may_be_due(uint64_t instructions, uint64_t now) {
  if (options_.unit == PeriodUnit::kInstructions) {
    if (since_sample_ + instructions >= options_.period) return instructions > 0;
  } else if (options_.period <= 1 || !period_clock_.skips(now, instructions)) {
    return instructions > 0;
  }
  since_sample_ += instructions;
  progress_.instructions += instructions;
  return false;
}

/// So many may pass before one that is to be sampled.
uint64_t Synthesizer::instructions_until_due(uint64_t now) const {
  if (options_.period <= 1) return 0;
  if (options_.unit != PeriodUnit::kInstructions) return period_clock_.skippable(now);
  return options_.period - std::min(options_.period, since_sample_ + 1);
}

bool Synthesizer::is_due(uint64_t now) {
  ++since_sample_;
  ++progress_.instructions;
  if (options_.period <= 1 && options_.unit != PeriodUnit::kTicks) return true;
  if (options_.unit == PeriodUnit::kInstructions) return since_sample_ >= options_.period;
  return period_clock_.passes(now);
}

void Synthesizer::sample(uint64_t ip, uint32_t flags, uint64_t now) {
  put_counted(0);
  if (in_transaction_) flags |= kTraceInTransaction;
  note_ipc(before_instruction_);
  counted_ = {ip, since_sample_, now, flags, std::exchange(details_, {})};
  since_sample_ = 0;
}

/// Instructions that don't branch.
void Synthesizer::count_some(uint64_t ip, std::span<const uint8_t> sizes, uint64_t now) {
  for (uint8_t size : sizes) {
    if (is_due(now)) sample(ip, 0, now);
    ip += size;
  }
}

void Synthesizer::count(const pt::Instruction& instruction, uint64_t now) {
  if (cycles_ahead_ != 0 && pt::consumes_trace(instruction)) spend_cycles();
  if (estimate_.is_on()) progress_.cycles = estimate_.total(now);
  if (!made_.instructions.valid())
    ++progress_.instructions;
  else if (is_due(now))
    sample(instruction.ip, flags_of(instruction), now);
}

void Synthesizer::put_counted(uint32_t more_flags) {
  if (!counted_) return;
  details_ = counted_->cycles;
  put(made_.instructions,
      {counted_->ip, 0, counted_->flags != 0 ? counted_->flags | more_flags : 0, 0},
      counted_->period, counted_->now);
  counted_.reset();
}

void Synthesizer::finish() {
  put_late(UINT64_MAX);
  told_.goes_on(stopped_at_);
  put_counted(0);
}

void Synthesizer::put_chain(Sample& sample, std::span<const CallStack::Call> calls) {
  append_chain(sample.ip, calls, options_.chain_size, chain_);
  sample.callchain = WordView(std::as_bytes(std::span(chain_)), kHostOrder);
}

void Synthesizer::put_branches(Sample& sample, const TaskFlow& flow) {
  branch_words_.clear();
  flow.branches.put(branch_words_);
  sample.has_branches = true;
  sample.branches = WordView(std::as_bytes(std::span(branch_words_)), kHostOrder);
}

void Synthesizer::put(EventId event, const TakenBranch& what, uint64_t period, uint64_t now,
                      Bytes raw) {
  TraceDetails details = std::exchange(details_, {});
  if (to_skip_ > 0) {
    --to_skip_;
    return;
  }
  const EventDesc& desc = events_[event];
  Sample sample;
  sample.id.time = clock_.to_ns(now);
  TaskTimeline::Task task = tasks_.task_at(sample.id.time);
  sample.id.pid = task.pid;
  sample.id.tid = task.tid;
  sample.id.cpu = cpu_;
  sample.id.id = sample.id.stream_id = desc.ids.front();
  sample.ip = what.from;
  sample.addr = what.to;
  sample.period = period;
  sample.raw = raw;
  sample.misc =
      is_kernel_address(what.from != 0 ? what.from : what.to) ? abi::kMiscKernel : abi::kMiscUser;
  details.flags = what.flags | (masked_ ? kTraceMasked : 0);
  details.length = what.length;
  if (follows_calls_) {
    const TaskFlow& flow = flow_of(task);
    details.depth = static_cast<uint32_t>(flow.calls.depth());
    if (desc.attr.samples(abi::kSampleCallchain)) put_chain(sample, flow.calls.calls());
    if (desc.attr.samples(abi::kSampleBranchStack)) put_branches(sample, flow);
  }
  record_.clear();
  if (!encode_sample(sample, desc.attr, record_)) return;
  append_trace_details(details, 0, record_);
  sink_(record_.view());
}

void Synthesizer::lost(pt::FlowError why, uint64_t ip, uint64_t now) {
  told_.goes_on(ip);
  if (estimate_.is_on()) estimate_.pause(now);
  put_counted(0);
  mask_changes_ = false;
  // Where the latest branch went is known, even if not what is there.
  if (why == pt::FlowError::kNoInstruction && ip != 0) finish_branch(ip, 0, now);
  last_.reset();
  if (why == pt::FlowError::kOverflow && options_.hides_overflows) return;
  uint64_t time = clock_.to_ns(now);
  put_error(why, ip, time, tasks_.task_at(time), cpu_);
}

void Synthesizer::report(LossLedger& losses) const {
  losses.add(LossKind::k_lost_aux, data_errors_.count, data_errors_.first);
  losses.add(LossKind::k_trace_without_code, code_errors_.count, code_errors_.first);
  losses.add(LossKind::k_bad_trace, other_errors_.count, other_errors_.first);
  losses.add(LossKind::k_unknown_event_id, nameless_pebs_.count, nameless_pebs_.first);
}

void Synthesizer::put_error(pt::FlowError why, uint64_t ip, uint64_t time_ns,
                            TaskTimeline::Task task, uint32_t cpu) {
  if (why == pt::FlowError::kLost && options_.hides_lost_data) return;
  std::string_view message = pt::describe(why);
  bool is_data = why == pt::FlowError::kOverflow || why == pt::FlowError::kLost;
  Errors& errors = is_data                                ? data_errors_
                   : why == pt::FlowError::kNoInstruction ? code_errors_
                                                          : other_errors_;
  if (errors.count++ == 0)
    errors.first = ip != 0 ? fmt::format("{} at {:#x}", message, ip) : std::string(message);
  if (!options_.errors) return;
  AuxtraceErrorRecord error{};
  error.type = kErrorFromTrace;
  error.code = static_cast<uint32_t>(why);
  error.cpu = cpu;
  error.pid = task.pid;
  error.tid = task.tid;
  error.format = 1;  // has a time
  error.ip = ip;
  error.time = time_ns;
  error.message = message;
  record_.clear();
  if (encode(error, record_)) sink_(record_.view());
}

}  // namespace sonde::itrace
