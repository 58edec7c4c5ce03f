// A timeline as plain data: what each thread and each CPU did, and when. It is made from scheduler
// events (analysis/timelines/sched_timeline.h) and drawn, written as JSON, or shown in the
// explorer.
//
//   thread 25128 (dd)   ▆▆▆▆▆▆──────────░░▆▆▆▆▆     ▆ running  ─ blocked  ░ runnable
//   CPU 0               dd    idle    sh  dd
//
// An I/O timeline has input and output instead of slices (analysis/timelines/io_calls.h), one of
// calls the functions that a trace saw run (analysis/timelines/call_timeline.h).
//
// The slices of a thread are in time order. Where nothing is known about a thread (before its first
// event, after its end, where events are missing), it has no slice. A CPU has a slice for each run
// of a thread on it; between them it was idle, unless it is one of the spans in `unknown`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::view {

/// Index into Timeline: none, or not known.
inline constexpr uint32_t kNoIndex = UINT32_MAX;

enum class TaskState : uint8_t {
  kRunning,
  kRunnable,         // could run, waiting for a CPU
  kSleeping,         // waiting; a signal would wake it
  kUninterruptible,  // waiting; signals do not wake it: disks, locks
  kStopped,          // by a signal or a debugger
};
inline constexpr size_t kTaskStates = 5;

struct TimelineSlice {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  TaskState state = TaskState::kRunning;
  bool is_cut = false;              // the recording begins or ends inside it: not part of the sums
  bool is_marked = false;           // highlighted in the picture
  uint32_t cpu = kNoIndex;          // the number of the CPU that it runs on, or that it left
  uint32_t waker = kNoIndex;        // the thread that ended the wait
  uint32_t stack = kNoIndex;        // where it left the CPU
  uint32_t waker_stack = kNoIndex;  // where the waker was
};

enum class IoKind : uint8_t { kDiskIn, kDiskOut, kNetIn, kNetOut, kSync, kPoll, kFailed };
inline constexpr size_t kIoKinds = 7;

/// One call, or several so close together that they are merged.
struct TimelineIo {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  IoKind kind = IoKind::kPoll;
  int32_t fd = -1;    // -1: the call has none
  int32_t error = 0;  // errno; 0: none
  uint64_t bytes = 0;
  uint32_t calls = 1;
};

/// A function from its entry to its return. Those of a thread are nested: a call ends no later than
/// the one around it, which has a lower depth.
struct TimelineCall {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t function = kNoIndex;
  uint32_t depth = 0;   // 0: the outermost that is known
  bool is_cut = false;  // it was not seen to be entered, or to return
};

struct TimelineFunction {
  std::string name;
  std::string object;  // file name without its directory
  bool is_kernel = false;
};

/// What a thread and its process were called from a time on.
struct TimelineName {
  uint64_t from_ns = 0;
  std::string name;
  std::string process_name;
};

struct TimelineThread {
  uint32_t pid = 0;  // of the process; 0 if not known
  uint32_t tid = 0;
  std::string name;
  std::vector<TimelineName> names;  // by time, if it had several and that is known: `name` has all
  std::string process_name;         // empty if not known
  uint64_t state_ns[kTaskStates] = {};
  uint64_t runs = 0;      // how often it was scheduled in
  uint64_t ended_ns = 0;  // when it exited; 0: not seen
  bool is_shown = true;   // false: excluded by the user; it may still be a waker
  bool is_marked = false;
  std::vector<TimelineSlice> slices;
  uint64_t io_bytes = 0;
  std::vector<TimelineIo> ios;
  std::vector<TimelineCall> calls;  // by start, then depth
};

struct TimelineRun {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t thread = kNoIndex;
  bool is_cut = false;
};

/// A CPU in one of its sleep states.
struct TimelineIdle {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t state = 0;  // deeper is higher
};
/// The CPU runs at this frequency from this time on.
struct TimelineFrequency {
  uint64_t time_ns = 0;
  uint64_t khz = 0;
};

struct TimelineCpu {
  uint32_t cpu = 0;
  uint64_t busy_ns = 0;
  uint64_t watched_ns = 0;  // from its first event to its last, without what is unknown
  std::vector<TimelineRun> runs;
  std::vector<TimelineIdle> idles;             // if the recording has power:cpu_idle
  std::vector<TimelineFrequency> frequencies;  // and power:cpu_frequency
};

/// A time of which it is not known what a CPU did, because events are missing.
struct TimelineUnknown {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t cpu = 0;
  bool is_loss = false;  // the kernel said that it dropped events there
};

/// What threads have.
enum class TimelineSubject : uint8_t { kStates, kIo, kCalls };

struct Timeline {
  TimelineSubject subject = TimelineSubject::kStates;
  uint64_t start_ns = 0;  // of the first event; clock of the recording
  uint64_t end_ns = 0;
  std::vector<TimelineThread> threads;   // longest-running first
  std::vector<TimelineCpu> cpus;         // by number
  std::vector<TimelineUnknown> unknown;  // by start
  std::string partial;  // why no waits are known: "only CPU 0 of 4 was recorded"; empty: they are
  std::vector<std::string> stacks;  // "outermost;…;innermost"
  std::vector<TimelineFunction> functions;
};

}  // namespace sonde::view
