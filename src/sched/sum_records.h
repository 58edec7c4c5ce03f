// The sums of SchedTotals in a perf.data file: a COMM record and a sample per thread, in order of
// their last moments. The samples are of the event type that BPF programs use (bpf-output), so
// every reader of perf.data can open the file: it sees as a sample's period how long the thread
// waited for a CPU, in ns. The rest is raw data of 204 bytes:
//   u32 version, 1 │ char comm[16] │ u64 × 11: first and last moment; run time; by the clock:
//   running, runnable, sleeping, blocked; delays: number, sum, the longest, its end │ u32 × 24:
//   delays of less than 1 us, 2 us, 4 us …
//
// Times are in ns of CLOCK_MONOTONIC, as the event's attr says.
#pragma once

#include <vector>

#include "bpf/sched_totals.h"
#include "perfdata/header/event_table.h"
#include "perfdata/read/file_scan.h"
#include "sched/latency.h"

namespace sonde {

/// The only event in such recordings.
[[nodiscard]] EventDesc sched_totals_event();

void encode_sched_sum(const SchedSum& sum, const abi::EventAttr& attr, ByteBuilder& out);

/// Nullopt if the sample is damaged, or of an unknown version.
[[nodiscard]] std::optional<SchedSum> decode_sched_sum(const Sample& sample);

/// Whether a recording consists of sums.
[[nodiscard]] bool has_sched_sums(const EventTable& events);

struct RecordedTotals {
  std::vector<SchedSum> sums;
  PipelineCounts counts;
};
/// `scan` must be at its start. Damaged samples are counted as losses.
[[nodiscard]] RecordedTotals read_sched_sums(FileScan& scan, LossLedger& losses);

/// Rows of the latency table, named as the sums are.
[[nodiscard]] std::vector<TaskLatency> latencies_of(const std::vector<SchedSum>& sums,
                                                    bool by_name);

}  // namespace sonde
