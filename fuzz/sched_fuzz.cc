// Arbitrary bytes as a recording, shown by sched's views. No crash, no read outside the input.
#include "base/loss.h"
#include "fuzz/fuzz_target.h"
#include "perfdata/read/recording.h"
#include "sched/latency_table.h"
#include "sched/replay_plan.h"
#include "sched/sum_records.h"
#include "sched/switch_map.h"
#include "sched/timehist.h"

namespace {

using namespace sonde;

template <typename View>
PipelineCounts feed_to(const Recording& recording, SchedKinds wanted, View&& view) {
  LossLedger losses;
  FileScan scan(recording, losses);
  SchedPipeline pipeline(scan, losses);
  pipeline.want(wanted);
  if (wanted == SwitchMap::wanted()) pipeline.sort_where_taken();
  pipeline.run([&](std::span<const SchedEvent> events) {
    for (const SchedEvent& event : events) view(event, pipeline);
  });
  return pipeline.counts();
}

}  // namespace

FUZZ_TARGET(sched)(const uint8_t* data, size_t size) {
  LossLedger losses;
  auto recording =
      Recording::open_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz", losses);
  if (!recording) return 0;
  constexpr SchedKinds kAll = ~SchedKinds{0};
  StringSink out;

  LatencyAnalysis latency({});
  PipelineCounts counts =
      feed_to(*recording, kAll, [&](const SchedEvent& event, const SchedPipeline& pipeline) {
        latency.consume(event, pipeline);
      });
  write_latencies(out, latency.result(true), latency.bad(), counts);

  FileScan scan(*recording, losses);
  RecordedTotals sums = read_sched_sums(scan, losses);
  std::vector<TaskLatency> rows = latencies_of(sums.sums, true);
  write_latencies(out, rows, {}, sums.counts);
  write_delays(out, rows);

  TimehistOptions options;
  options.cpu_visual = options.migrations = options.wakeups = options.next = true;
  options.state = options.priority = true;
  options.idle_only = size % 2 == 1;
  Timehist history(options, [](const SchedEvent&) { return std::string_view(); }, out);
  history.begin();
  feed_to(*recording, kAll, [&](const SchedEvent& event, const SchedPipeline& pipeline) {
    history.consume(event, pipeline);
  });
  history.write_summary();

  SwitchMapOptions columns;
  columns.compact = size % 3 == 0;
  SwitchMap map(columns, out);
  feed_to(*recording, SwitchMap::wanted(),
          [&](const SchedEvent& event, const SchedPipeline& pipeline) {
            map.consume(event, pipeline);
          });
  map.flush();

  ReplayPlan plan;
  feed_to(*recording, kAll, [&](const SchedEvent& event, const SchedPipeline& pipeline) {
    plan.consume(event, pipeline);
  });
  plan.chain_ends();
  (void)out.text();
  return 0;
}
