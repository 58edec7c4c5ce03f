// SchedPipeline: the scheduler events of a recording, in time order, in bounded memory
// (replay/passes/tracepoint_scan.h).
//
//   SchedPipeline pipeline(scan, losses);
//   pipeline.want(kinds(SchedKind::kSwitch, SchedKind::kRecord));
//   pipeline.run([&](std::span<const SchedEvent> events) { … });
#pragma once

#include "replay/passes/tracepoint_scan.h"
#include "sched/event_offsets.h"
#include "sched/sched_event.h"

namespace sonde {

class SchedPipeline : public TracepointScan<SchedEvent, EventOffsets> {
 public:
  SchedPipeline(FileScan& scan, LossLedger& losses)
      : TracepointScan(scan, places_of(scan.events(), scan.features()), losses) {}

  /// Selects the events; kRecord stands for COMM, FORK, EXIT and LOST records.
  void want(SchedKinds wanted) { wanted_ = wanted; }
  /// Saves a copy of each event: for analyses that are less than half of the work.
  void sort_where_taken() { sorts_where_taken_ = true; }
  /// Reads everything, once. `take` returns when it is done with the events.
  void run(const Take& take);

 private:
  SchedKinds wanted_ = ~SchedKinds{0};
  bool sorts_where_taken_ = false;
};

}  // namespace sonde
