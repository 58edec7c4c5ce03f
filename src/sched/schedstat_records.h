// SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN records, as which `sched stats record` keeps the kernel's
// counters: each moment is a record per CPU, followed by one per domain of it. The layout is that
// of perf 7.0:
//
//   CPU:    timestamp u64 | cpu u32 | version u16 | 2 bytes | six counters u32 | three u64
//   DOMAIN: timestamp u64 | cpu u32 | version u16 | level u16 | counters u32
//
// Behind a domain's counters we write its name and its CPUs, each with a NUL, for recordings cut
// out of others; perf has them in a section of the header only (schedstat_domains.h). Readers that
// don't know of them stop before.
#pragma once

#include "base/bytes.h"
#include "perfdata/record.h"
#include "sched/schedstat.h"

namespace sonde {

/// False where a record would be longer than records can be.
bool encode_schedstat(const Schedstat& stat, ByteBuilder& out);

/// Puts the moments of a recording together again.
class SchedstatReader {
 public:
  /// False where the record is damaged, or of a version that is not known. Records of other types
  /// are ignored.
  bool take(const RecordView& record);
  [[nodiscard]] const std::vector<Schedstat>& moments() const { return moments_; }

 private:
  bool take_cpu(ByteCursor& in);
  bool take_domain(ByteCursor& in);
  std::vector<Schedstat> moments_;
};

}  // namespace sonde
