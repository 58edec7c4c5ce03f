// TraceSource: where `trace` gets its events from, live or recorded, behind one interface: system
// calls, samples of other events, and task updates, in time order.
//
//   TRY(source.refill(false));                        fetch what has arrived; never waits
//   while (const TraceItem* item = source.front()) {  the oldest, if nothing older can arrive
//     … item …
//     source.pop();
//   }
//
// Guarantees: the times of items never go back (a late item gets the time of its predecessor, and
// is counted in the ledger as out_of_order). Memory is bounded: a source holds what is in its
// buffers and what waits for `safe_until_ns`. What the kernel dropped appears as a kLost item where
// it is noticed; reporting the sum is up to the caller.
//
// Several sources can be merged by time (merged_source.h): BPF programs for calls and rings for
// tracepoints. All must then use CLOCK_MONOTONIC, which is bpf_ktime_get_ns().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/print_fmt/tracepoint_format.h"
#include "perfdata/records/sample.h"
#include "trace/sources/trace_event.h"

namespace sonde {

/// An event that is not a system call: a tracepoint, a probe, page faults, sched_stat_runtime. Each
/// source lists its own.
struct TracedEvent {
  std::string name;  // "sched:sched_switch", as the user knows it
  abi::EventAttr attr;
  const TracepointFormat* format = nullptr;  // null: not a tracepoint, or its format is not known
};

/// A change to a task or its memory.
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
  uint64_t time_ns = 0;    // of the entry if only that is known, otherwise of the exit
  SyscallEvent call = {};  // kCall; kSample of syscalls:sys_enter_*: with has_entry
  uint32_t event = 0;      // kSample, and kCall with a sample: index into the source's events()
  const Sample* sample = nullptr;  // kSample, and kCall if it comes from a record: its call chain,
                                   // registers, raw data …
  const SampleLayout* layout = nullptr;  // of that sample
  TaskNews task = {};                    // kTask
  uint64_t lost = 0;                     // kLost: number of events
};

/// Calls counted in the kernel instead of reported singly (`-s`): one row per task (or cgroup) and
/// call.
struct CallTotals {
  int32_t pid = 0, tid = 0;  // 0 if totals are not by task
  uint64_t cgroup = 0;       // id; 0 if they are not by cgroup
  SyscallAbi abi = SyscallAbi::kX86_64;
  uint32_t number = 0;
  uint64_t calls = 0;  // finished calls with a known duration
  uint64_t errors = 0;
  uint64_t total_ns = 0, min_ns = 0, max_ns = 0;
  double squares_ns2 = 0;  // sum of the squared durations, for the deviation
  std::string_view comm = {};
  struct ErrorCount {
    int error = 0;
    uint64_t count = 0;
  };
  std::vector<ErrorCount> by_errno = {};  // only if requested
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;

  /// The events other than calls that this source hands out. Fixed from the start.
  [[nodiscard]] virtual const std::vector<TracedEvent>& events() const = 0;
  /// Descriptors that become readable when there is something to fetch; empty for files.
  [[nodiscard]] virtual std::vector<int> wait_fds() const { return {}; }

  /// Live: from here on events arrive (the workload has not been released yet). A file has nothing
  /// to start.
  virtual Result<> start() { return {}; }
  /// Live: nothing more is written. What is in the buffers can still be read.
  virtual void stop() {}

  /// Fetches what has arrived. `all`: nothing more will come, so no item needs to wait.
  virtual Result<> refill(bool all) = 0;
  /// The oldest item that may be handed out; null if there is none at present. Valid until pop().
  [[nodiscard]] virtual const TraceItem* front() = 0;
  virtual void pop() = 0;
  /// No item before this time will come any more; UINT64_MAX at the end.
  [[nodiscard]] virtual uint64_t safe_until_ns() const = 0;
  /// The file or pipe was read to its end, or every traced task is gone.
  [[nodiscard]] virtual bool at_end() const = 0;

  /// Live, with totals counted in the kernel: the counts so far. Empty if the source hands out
  /// single calls.
  [[nodiscard]] virtual Result<std::vector<CallTotals>> totals() {
    return std::vector<CallTotals>{};
  }
};

/// The calls and targets requested of a live source. Filtered in the kernel: nothing else is
/// copied.
struct TraceRequest {
  std::vector<uint32_t> calls;      // numbers of the native table
  std::vector<uint32_t> calls_32;   // of the 32-bit table of the same machine
  bool all_calls = true;            // the lists are ignored; otherwise only what they hold
  bool invert = false;              // all calls but those
  std::vector<int32_t> pids, tids;  // both empty: system-wide; pids include all their threads
  bool follow_children = true;      // trace the children too
  bool from_exec = false;           // begin with the first successful execve, inclusive: before
                                    // that, the workload's child runs our code, not its own
  bool has_32_bit = false;          // the program to run is a 32-bit one
  std::vector<int> cpus;            // empty: all
  std::vector<uint64_t> cgroups;    // ids; empty: all
  std::vector<int32_t> not_pids;    // --filter-pids, and always our own
  bool failed_only = false;         // --failure
  uint64_t min_duration_ns = 0;     // --duration
  enum class Totals : uint8_t { kNone, kByThread, kAll, kByCgroup };
  Totals totals = Totals::kNone;  // -s: count in the kernel
  bool errno_totals = false;
  bool arguments = true;       // read the memory that arguments point to
  uint16_t string_bytes = 32;  // maximum bytes of strings and buffers (file names come whole)
  uint64_t buffer_bytes = 0;   // -m, per CPU; 0: the source's default
};

}  // namespace sonde
