// Samples of Arm SPE's records: one for each event that --itrace asks for and that happened to the
// operation (perf-arm-spe(1)). Unlike branches of a trace these are samples already, chosen by the
// processor: what is counted here are records.
#pragma once

#include <optional>
#include <vector>

#include "base/loss.h"
#include "itrace/options.h"
#include "itrace/queue_tasks.h"
#include "itrace/spe_records.h"
#include "itrace/synthesizer.h"
#include "itrace/trace_input.h"
#include "perfdata/header/event_table.h"

namespace sonde::itrace {

/// An event, and which records make a sample of it.
struct SpeEvent {
  EventId event = {};
  uint64_t any_of = 0;       // SpeRecord::Event; 0: see below
  bool is_access = false;    // loads and stores
  bool is_periodic = false;  // every nth record
};

/// Adds the events that the options ask for. kUnsupported: a period that is not one of records.
Result<std::vector<SpeEvent>> add_spe_events(EventTable& events, const TraceInput& input,
                                             const ItraceOptions& options);

class SpeSamples {
 public:
  SpeSamples(const EventTable& events, const std::vector<SpeEvent>& made,
             const ItraceOptions& options, const TraceInput& input, const TraceQueue& queue,
             const Machine& machine, const RecordSink& sink);

  /// Makes samples of a contiguous trace.
  void follow(Bytes trace);
  void report(LossLedger& losses) const;

 private:
  void take(const SpeRecord& record);
  void put(EventId event, const SpeRecord& record, uint64_t address, uint64_t period);

  const EventTable& events_;
  const std::vector<SpeEvent>& made_;
  const TraceInput& input_;
  const Machine& machine_;
  const RecordSink& sink_;
  uint32_t cpu_;
  uint64_t period_, to_skip_;
  QueueTasks tasks_;
  std::optional<TaskTimeline::Task> context_;  // told by the trace
  uint64_t records_ = 0, now_ = 0;             // ns
  uint64_t bad_bytes_ = 0;
  ByteBuilder record_;
};

}  // namespace sonde::itrace
