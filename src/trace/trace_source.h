// TraceSource: where `trace` has its events from, live or recorded, behind one face: system calls,
// samples of other events, and news of tasks, in the order of time.
//
//   TRY(source.refill(false));                            take what has come; never waits
//   while (const TraceItem* item = source.front()) {      the oldest, if nothing older can come any
//   more
//     … item …
//     source.pop();
//   }
//
// Guarantees: times of items that are handed out never go back (a late one is given the time of its
// predecessor, and counted in the ledger as out_of_order). Memory is bounded: a source holds what
// lies in its buffers and what waits for `safe_until_ns`. What the kernel dropped comes as a kLost
// item where it is noticed; the sum is for the caller to say.
//
// Several sources are one where their items are merged by time (merged_source.h): BPF programs for
// calls and rings for tracepoints. All use one clock then, CLOCK_MONOTONIC, which is
// bpf_ktime_get_ns().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/tracepoint_format.h"
#include "perfdata/sample.h"
#include "trace/trace_event.h"

namespace sonde {

/// An event that is no system call: a tracepoint, a probe, page faults, sched_stat_runtime. A
/// source lists its own.
struct TracedEvent {
  std::string name;  // "sched:sched_switch", as the user knows it
  abi::EventAttr attr;
  const TracepointFormat* format = nullptr;  // null: no tracepoint, or its format is not known
};

/// What changed about tasks and their memory.
struct TaskNews {
  enum class Kind : uint8_t { kComm, kFork, kExit, kMemory };
  Kind kind = Kind::kComm;
  int32_t pid = 0, tid = 0;
  int32_t parent_tid = -1;     // kFork
  std::string_view comm = {};  // kComm
  const RecordView* record =
      nullptr;  // the kernel's record, for a Machine; null: the source has none
  const SampleLayout* layout = nullptr;
};

struct TraceItem {
  enum class Kind : uint8_t { kCall, kSample, kTask, kLost };
  Kind kind = Kind::kCall;
  uint64_t time_ns = 0;    // of the entry where only that is known, of the exit otherwise
  SyscallEvent call = {};  // kCall
  uint32_t event = 0;      // kSample, and kCall with a sample: index into the source's events()
  const Sample* sample = nullptr;  // kSample, and kCall where it comes from a record: its call
                                   // chain, registers, raw data …
  const SampleLayout* layout = nullptr;  // of that sample
  TaskNews task = {};                    // kTask
  uint64_t lost = 0;                     // kLost: so many events
};

/// Counted in the kernel in place of single calls (`-s`): a row per task (or cgroup) and call.
struct SyscallTotals {
  int32_t pid = 0, tid = 0;  // 0 where totals are not by task
  uint64_t cgroup = 0;       // id; 0 where they are not by cgroup
  SyscallAbi abi = SyscallAbi::kX86_64;
  uint32_t number = 0;
  uint64_t calls = 0;  // finished ones, with a known duration
  uint64_t errors = 0;
  uint64_t total_ns = 0, min_ns = 0, max_ns = 0;
  double squares_ns2 = 0;  // sum of the squares of the durations, for the deviation
  std::string_view comm = {};
  struct ErrorCount {
    int error = 0;
    uint64_t count = 0;
  };
  std::vector<ErrorCount> by_errno = {};  // only where asked for
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;

  /// Other events than calls that this source hands out. Fixed from the beginning.
  [[nodiscard]] virtual const std::vector<TracedEvent>& events() const = 0;
  /// Descriptors that become readable when there is something to take; empty for files.
  [[nodiscard]] virtual std::vector<int> wait_fds() const { return {}; }

  /// Live: from now on events come (a workload is not yet released). A file has nothing to start.
  virtual Result<> start() { return {}; }
  /// Live: nothing more is written. What lies in the buffers can still be taken.
  virtual void stop() {}

  /// Takes what has come. `all`: nothing more will come, so nothing needs to wait for its turn.
  virtual Result<> refill(bool all) = 0;
  /// The oldest item that may be handed out; null: none at present. Holds until pop().
  [[nodiscard]] virtual const TraceItem* front() = 0;
  virtual void pop() = 0;
  /// No item before this time will come any more; UINT64_MAX at the end.
  [[nodiscard]] virtual uint64_t safe_until_ns() const = 0;
  /// A file or pipe is read to its end, or every traced task has gone.
  [[nodiscard]] virtual bool at_end() const = 0;

  /// Live, with totals counted in the kernel: what was counted up to now. Empty where the source
  /// hands out single calls.
  [[nodiscard]] virtual Result<std::vector<SyscallTotals>> totals() {
    return std::vector<SyscallTotals>{};
  }
};

/// Which calls a live source is asked for, and of whom. The kernel's side filters by it: nothing
/// else is copied.
struct TraceRequest {
  std::vector<uint32_t> calls;      // numbers of the native table
  std::vector<uint32_t> calls_32;   // of the 32-bit table of the same machine
  bool all_calls = true;            // the lists say nothing; otherwise only what they hold
  bool invert = false;              // all calls but those
  std::vector<int32_t> pids, tids;  // both empty: the whole machine; pids with all of their threads
  bool follow_children = true;      // what they start is traced too
  bool from_exec = false;           // begin with the first execve that succeeds, itself included:
                                    // what a workload's child did before it is ours, not its own
  bool has_32_bit = false;          // the program that they run is a 32-bit one
  std::vector<int> cpus;            // empty: all
  std::vector<uint64_t> cgroups;    // ids; empty: all
  std::vector<int32_t> not_pids;    // --filter-pids, and always ourselves
  bool failed_only = false;         // --failure
  uint64_t min_duration_ns = 0;     // --duration
  enum class Totals : uint8_t { kNone, kByThread, kAll, kByCgroup };
  Totals totals = Totals::kNone;  // -s: count in the kernel
  bool errno_totals = false;
  bool arguments = true;       // memory that arguments point to is wanted
  uint16_t string_bytes = 32;  // so much of texts and buffers (names of files come whole)
  uint64_t buffer_bytes = 0;   // -m, of each CPU; 0: the source's own choice
};

}  // namespace sonde
