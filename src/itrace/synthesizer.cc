#include "itrace/synthesizer.h"

#include <algorithm>
#include <utility>

#include "itrace/branch_flags.h"
#include "itrace/kernel_code.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {
namespace {

constexpr uint32_t kErrorFromTrace = 1;  // AUXTRACE_ERROR: an instruction trace's

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
  if (why == pt::FlowError::kBadPacket && last_ && ip != last_->ip) finish_branch(ip, 0, now);
  last_.reset();
  if (why == pt::FlowError::kOverflow && options_.hides_overflows) return;
  if (why == pt::FlowError::kNoInstruction && is_known_to_miss_ && is_known_to_miss_(ip, now)) {
    code_errors_.add(1, {});  // not the first
    return;
  }
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
