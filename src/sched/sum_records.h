// What SchedSums added up, in a perf.data file: a COMM record and a sample per thread, in order of
// their last moments. The samples are of an event as BPF programs have them (bpf-output), so every
// reader of perf.data opens the file: for it a sample's period is how long its thread waited for a
// CPU, in ns. The rest is raw data of 204 bytes:
//
//   u32 version, 1 │ char comm[16] │ u64 × 11: first and last moment; run time; by the clock:
//   running, runnable, sleeping, blocked; delays: number, sum, the longest, its end │ u32 × 24:
//   delays of less than 1 us, 2 us, 4 us …
//
// Times are in ns of CLOCK_MONOTONIC, as the event's attr says.
#pragma once

#include <vector>

#include "bpf/sched_sums.h"
#include "perfdata/event_table.h"
#include "perfdata/file_walk.h"
#include "sched/latency.h"

namespace sonde {

/// The only event of such recordings.
[[nodiscard]] EventDesc sched_sums_event();

void encode_sched_sum(const SchedSum& sum, const abi::EventAttr& attr, ByteBuilder& out);

/// Nothing where the sample is damaged, or of a version that is not known.
[[nodiscard]] std::optional<SchedSum> decode_sched_sum(const Sample& sample);

/// Whether a recording consists of sums.
[[nodiscard]] bool has_sched_sums(const EventTable& events);

struct RecordedSums {
  std::vector<SchedSum> sums;
  FeedCounts counts;
};
/// Of a walk at its start. Damaged samples are counted as losses.
[[nodiscard]] RecordedSums read_sched_sums(FileWalk& walk, LossLedger& losses);

/// Lines of the table of latencies, whose names are the sums'.
[[nodiscard]] std::vector<TaskLatency> latencies_of(const std::vector<SchedSum>& sums,
                                                    bool by_name);

}  // namespace sonde
