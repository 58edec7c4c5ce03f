// The tables of `trace -s`: calls by thread, over all threads, or by cgroup, in perf trace's
// format.
//
//    ls (19756), 290 events, 100.0%
//
//      syscall            calls  errors  total       min       avg       max       stddev
//                                        (msec)    (msec)    (msec)    (msec)        (%)
//      --------------- --------  ------ -------- --------- --------- ---------     ------
//      getdents64             2      0     0.534     0.002     0.267     0.532     99.28%
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/sink.h"
#include "trace/sources/traced_tasks.h"
#include "trace/views/call_texts.h"

namespace sonde {

enum class SummaryMode : uint8_t { kThread, kTotal, kCgroup };

struct SummaryOptions {
  SummaryMode mode = SummaryMode::kThread;
  bool errnos = false;     // --errno-summary
  bool runtime = false;    // --sched
  uint32_t most_rows = 0;  // --max-summary: maximum rows of a table; 0: all
};

/// A table and the figures of its heading.
struct SummaryGroup {
  std::string name;  // "ls (19756)", "total", "cgroup /system.slice"
  uint64_t events = 0;
  uint64_t major_faults = 0, minor_faults = 0;
  uint64_t runtime_ns = 0;
  std::map<SyscallKey, CallStats> calls;
};

/// The threads as groups, in perf's order: by tid modulo 256, then by their number of events.
[[nodiscard]] std::vector<SummaryGroup> groups_by_thread(const std::deque<TracedTask>& tasks);
[[nodiscard]] SummaryGroup group_of_all(const std::deque<TracedTask>& tasks);

/// `all_events` is the base of the percentages.
void write_summary(Sink& out, const std::vector<SummaryGroup>& groups, uint64_t all_events,
                   const SummaryOptions& options, CallTexts& texts);

}  // namespace sonde
