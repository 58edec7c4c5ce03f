// Makes sample records of the flow of an instruction trace: a sample for every branch, for some of
// the instructions, for transactions; and a record for every error.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <tsl/robin_map.h>

#include "base/loss.h"
#include "itrace/branch_ring.h"
#include "itrace/call_stack.h"
#include "itrace/cycle_estimate.h"
#include "itrace/event_samples.h"
#include "itrace/existing_samples.h"
#include "itrace/options.h"
#include "itrace/pebs_samples.h"
#include "itrace/period_clock.h"
#include "itrace/trace_input.h"
#include "perfdata/header/event_table.h"
#include "perfdata/records/trace_flags.h"
#include "perfdata/records/user_records.h"
#include "pt/flow_decoder.h"

namespace sonde::itrace {

/// The events that samples are made for. Invalid: none are.
struct SynthesizedEvents {
  EventId instructions, branches, transactions;
  TraceEventIds told;  // what the trace tells besides branches
};

/// Adds the events that the options ask for, with perf's names and ids; the trace's own event gives
/// the other fields of samples.
SynthesizedEvents add_events(EventTable& events, const TraceInput& input,
                             const ItraceOptions& options);

/// The id of the first of the events that are made of a trace, as perf numbers them.
uint64_t first_own_id(const EventTable& events, const TraceInput& input);

/// Whether samples of the event were made of a trace, here or by perf's inject.
bool is_synthesized(const EventDesc& event);
/// The same, or whether the processor wrote them into one.
bool is_of_trace(const EventDesc& event);

/// Which task a queue traces at a time.
class TaskTimeline {
 public:
  virtual ~TaskTimeline() = default;
  struct Task {
    uint32_t pid, tid;
    uint64_t trace = 1;  // not 0; another if the task was traced elsewhere in between
  };
  virtual Task task_at(uint64_t time_ns) = 0;
};

/// Receives whole records.
using RecordSink = std::function<void(Bytes)>;

class Synthesizer final : public pt::FlowObserver {
 public:
  Synthesizer(const EventTable& events, const SynthesizedEvents& made, const ItraceOptions& options,
              const TraceInput& input, uint32_t cpu, TaskTimeline& tasks, RecordSink sink,
              LateSamples late = {}, PebsOrigins pebs = {});

  void instruction(const pt::Instruction& instruction, uint64_t now) override;
  void ran(const pt::Block& block, pt::BlockSizes& sizes, uint64_t now) override;
  Indifference indifference(uint64_t now) override;
  void skipped(uint64_t ip, uint64_t count, const pt::Instruction& last, uint64_t now) override;
  void enabled(uint64_t ip, uint64_t now) override;
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) override;
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) override;
  void transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) override;
  void ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now) override;
  void power(const pt::PowerEvent& event, std::optional<uint64_t> ip, uint64_t now) override;
  void control_flow(const pt::ControlFlowEvent& event, std::optional<uint64_t> ip,
                    uint64_t now) override;
  void interrupt_flag(bool allows, pt::FlagChange how, std::optional<uint64_t> ip,
                      uint64_t now) override;
  void items(const pt::BlockItems& items, std::optional<uint64_t> ip, uint64_t now) override;
  void items_cut(uint64_t records) override;
  void cycles(uint64_t count) override { cycles_ahead_ += count; }
  void core_frequency(uint32_t ratio, uint64_t now) override;
  void lost(pt::FlowError why, uint64_t ip, uint64_t now) override;

  /// A branch that the trace tells whole.
  void taken(const TakenBranch& what, uint64_t now) { branch(what, now); }
  /// Samples of the PSBs of a piece of trace, before it is followed.
  void put_psbs(Bytes trace, uint64_t offset) { told_.psbs(trace, offset); }
  /// Errors at addresses whose code is missing for a reason that was told before, as the function
  /// says, are counted only.
  void tell_once(std::function<bool(uint64_t ip, uint64_t now)> is_known_to_miss) {
    is_known_to_miss_ = std::move(is_known_to_miss);
  }
  /// After the last call as an observer.
  void finish();
  /// Counts the errors that were not hidden.
  void report(LossLedger& losses) const;
  /// An error at a time of the recording's clock.
  void put_error(pt::FlowError why, uint64_t ip, uint64_t time_ns, TaskTimeline::Task task,
                 uint32_t cpu);
  void put_lost(const LostTrace& lost) {
    put_error(pt::FlowError::kLost, 0, lost.time_ns, {lost.pid, lost.tid}, lost.cpu);
  }

 private:
  /// What a task did so far.
  struct TaskFlow {
    CallStack calls;
    BranchRing branches;
  };

  void finish_branch(uint64_t to, uint32_t more_flags, uint64_t now);
  void branch(const TakenBranch& branch, uint64_t now);
  void plain_branch(const TakenBranch& branch, uint64_t now);
  void put_mask_change(TakenBranch what, uint64_t now);
  TaskFlow& flow_of(const TaskTimeline::Task& task);
  /// Instructions and cycles up to where the flow is.
  struct Progress {
    uint64_t instructions = 0, cycles = 0;
    bool is_new = false;  // cycles were told of at the latest instruction, or event
  };
  void spend_cycles();
  void note_ipc(Progress& before);
  void put_late(uint64_t time_ns);
  void put_chain(Sample& sample, std::span<const CallStack::Call> calls);
  void put_branches(Sample& sample, const TaskFlow& flow);
  void count(const pt::Instruction& instruction, uint64_t now);
  void count_some(uint64_t ip, std::span<const uint8_t> sizes, uint64_t now);
  [[nodiscard]] bool may_be_due(uint64_t instructions, uint64_t now);
  [[nodiscard]] uint64_t instructions_until_due(uint64_t now) const;
  [[nodiscard]] bool is_due(uint64_t now);
  void sample(uint64_t ip, uint32_t flags, uint64_t now);
  void put_counted(uint32_t more_flags);
  void put_pebs(const PebsOrigins::Origin& origin, const pt::BlockItems& items, uint64_t ip,
                uint64_t time_ns);
  void put(EventId event, const TakenBranch& what, uint64_t period, uint64_t now, Bytes raw = {});
  [[nodiscard]] bool wants(uint32_t flags) const;

  const EventTable& events_;
  SynthesizedEvents made_;
  ItraceOptions options_;
  TraceClock clock_;
  uint32_t cpu_;
  TaskTimeline& tasks_;
  RecordSink sink_;
  std::optional<pt::Instruction> last_;  // whose successor is not known yet
  bool in_transaction_ = false;
  uint64_t stopped_at_ = 0;  // where tracing ended last
  /// The sample of an instruction waits until it is known whether tracing ends with it.
  struct Counted {
    uint64_t ip, period, now;
    uint32_t flags;
    TraceDetails cycles;
  };
  std::optional<Counted> counted_;
  uint64_t since_sample_ = 0;  // instructions
  uint64_t to_skip_;
  EventSamples told_;
  struct Errors {
    uint64_t count = 0;
    std::string first;
    void add(uint64_t more, std::string_view what) {
      if (count == 0) first = what;
      count += more;
    }
  };
  std::function<bool(uint64_t, uint64_t)> is_known_to_miss_;
  Errors data_errors_, code_errors_, other_errors_, nameless_pebs_;
  PeriodClock period_clock_;  // for periods of time
  ByteBuilder record_;
  CycleEstimate estimate_;  // in place of cycles that the trace tells
  Progress progress_, before_branch_,
      before_instruction_;     // before: at the latest samples with IPC
  uint64_t cycles_ahead_ = 0;  // of what comes next
  TraceDetails details_;       // of the next sample
  LateSamples late_;
  PebsOrigins pebs_;
  std::vector<PebsOrigins::Origin> origins_;  // of the latest record
  PebsFields pebs_fields_;
  bool keeps_branches_;
  bool follows_calls_;
  uint64_t branch_now_ = 0, branch_time_ns_;  // of the latest branch
  // The interrupt flag, if the trace tells it; the next branch may change it.
  bool tells_interrupt_flag_, masked_ = false, mask_changes_ = false;
  ByteBuilder raw_;
  tsl::robin_map<uint32_t, TaskFlow> flows_;  // by tid
  TaskFlow* flow_ = nullptr;                  // the latest one, until another is added
  uint32_t flow_tid_ = 0;
  std::vector<uint64_t> chain_, branch_words_;  // of the latest sample
};

/// The flags of a branch instruction; 0 if it is none.
uint32_t flags_of(const pt::Instruction& instruction);

}  // namespace sonde::itrace
