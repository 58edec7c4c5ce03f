// SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN records, in which `sched stats record` stores the kernel's
// counters: each snapshot is a record per CPU, followed by one per domain of that CPU. The layout
// is perf 7.0's:
//
//   CPU:    timestamp u64 | cpu u32 | version u16 | 2 bytes | six counters u32 | three u64
//   DOMAIN: timestamp u64 | cpu u32 | version u16 | level u16 | counters u32
//
// After a domain's counters we write its name and its CPUs, NUL-terminated, for recordings
// extracted from others; perf has them only in a section of the header (schedstat_domains.h).
// Readers that don't know them stop before.
#pragma once

#include "base/bytes.h"
#include "perfdata/records/record.h"
#include "sched/schedstat.h"

namespace sonde {

/// False if a record would exceed the maximum record size.
bool encode_schedstat(const Schedstat& stat, ByteBuilder& out);

/// Reassembles the snapshots of a recording.
class SchedstatReader {
 public:
  /// False if the record is damaged, or of an unknown version. Ignores records of other types.
  bool consume(const RecordView& record);
  [[nodiscard]] const std::vector<Schedstat>& snapshots() const { return snapshots_; }

 private:
  bool take_cpu(ByteCursor& in);
  bool take_domain(ByteCursor& in);
  std::vector<Schedstat> snapshots_;
};

}  // namespace sonde
