// SchedPipeline: the scheduler events of a recording, in time order, in bounded memory.
//
// The wanted events are extracted from their records (replay/passes/record_pipeline.h), so an
// analysis never touches a record, and only two rounds of SchedEvents are held in memory.
//
//   SchedPipeline pipeline(scan, kinds(SchedKind::kSwitch, SchedKind::kRecord), losses);
//   pipeline.run([&](std::span<const SchedEvent> events) { … });
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/loss.h"
#include "perfdata/read/file_scan.h"
#include "replay/passes/record_pipeline.h"
#include "sched/event_offsets.h"
#include "sched/sched_event.h"

namespace sonde {

class SchedPipeline {
 public:
  /// `scan` must be at its start and outlive the pipeline.
  SchedPipeline(FileScan& scan, LossLedger& losses);

  [[nodiscard]] bool has(SchedKind kind) const;
  /// Selects the events; kRecord stands for COMM, FORK, EXIT and LOST records.
  void want(SchedKinds wanted) { wanted_ = wanted; }
  /// Saves a copy of each event: for analyses that are less than half of the work.
  void sort_where_taken() { sorts_where_taken_ = true; }

  using Take = std::function<void(std::span<const SchedEvent>)>;
  /// Reads everything, once. `take` returns when it is done with the events; it is called by one
  /// thread at a time.
  void run(const Take& take);

  /// Complete after run.
  [[nodiscard]] const PipelineCounts& counts() const { return counts_; }
  [[nodiscard]] const EventTable& events() const { return scan_.events(); }
  [[nodiscard]] const EventOffsets& places(const SchedEvent& event) const {
    return places_[event.event];
  }
  [[nodiscard]] RecordView record(const SchedEvent& event) const {
    return record_at(event.record, scan_.facts().order);
  }
  [[nodiscard]] const SampleLayout& layout(const SchedEvent& event) const {
    return scan_.events()[EventId(size_t{event.event})].layout;
  }
  /// The raw data of a sample.
  [[nodiscard]] Bytes raw(const SchedEvent& event) const {
    return places(event).raw_data(record(event), layout(event));
  }

 private:
  class Decoder;
  FileScan& scan_;
  LossLedger& losses_;
  std::vector<EventOffsets> places_;
  SchedKinds wanted_ = ~SchedKinds{0};
  bool sorts_where_taken_ = false;
  PipelineCounts counts_;
};

}  // namespace sonde
