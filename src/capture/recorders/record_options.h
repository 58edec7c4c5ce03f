// RecordOptions: everything the `record` command line decides, as data. The command fills it in;
// each stage of capture reads its own part. No stage gets at a flag in any other way.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/parser/event_list.h"
#include "symbol/guest_kernel.h"

namespace sonde {

/// Whom to record. If nothing is given, every CPU.
struct TargetOptions {
  std::vector<std::string> command;
  std::string pids, tids, user, cpus;  // as given; empty: not given
  bool all_cpus = false;
  bool per_thread = false;
  bool user_later = false;  // -u: also what the user starts later, where the kernel can tell

  [[nodiscard]] bool has_task() const { return !pids.empty() || !tids.empty() || !user.empty(); }
  [[nodiscard]] bool has_cpu() const { return all_cpus || !cpus.empty(); }
};

/// --aggregate: samples are counted in the kernel, and written as sums.
struct AggregationOptions {
  bool enabled = false;
  uint64_t window_s = 60;  // sums are written this often
};

/// kBest: not decided yet (call_graph_choice.h); no recording begins with it.
enum class CallGraphMode : uint8_t { kNone, kFramePointer, kDwarf, kLbr, kBpf, kBest };

/// Whether samples may have copies of stacks. perf unwinds them by call frame information that it
/// finds by the mappings of data, too.
constexpr bool copies_stacks(CallGraphMode mode) {
  return mode == CallGraphMode::kDwarf || mode == CallGraphMode::kBpf;
}

/// How many bytes of each stack `-g` copies for a command. Compilers and interpreters go deeper
/// than the 8 KiB that are usual: of g++'s samples 95 % reach the thread's start with them, 98 with
/// twice as many, 99 with these.
inline constexpr uint32_t kWholeStackDumpSize = 24576;

/// What each sample holds, and when one is taken. Event terms override this per event.
struct SamplingOptions {
  std::optional<uint64_t> freq;    // -F N
  bool freq_max = false;           // -F max
  bool strict_freq = false;        // --strict-freq
  std::optional<uint64_t> period;  // -c N
  CallGraphMode call_graph = CallGraphMode::kNone;
  std::optional<uint32_t> dump_size;  // --call-graph dwarf,SIZE; see stack_dump_size()
  bool copies_walked = false;         // --call-graph bpf,raw: also copy the stacks that are walked
  bool unwind_stacks = false;         // unwind stack copies before they are written (not dwarf,raw)
  bool interpreters = true;           // --no-interpreters
  uint32_t max_stack = 0;             // --call-graph fp,N; 0: the kernel's default
  AggregationOptions aggregation;

  bool no_inherit = false;               // -i
  bool no_inherit_given = false;         // -i or --inherit was on the command line
  bool addresses = false;                // -d
  bool physical_addresses = false;       // --phys-data
  bool data_page_size = false;           // --data-page-size
  bool code_page_size = false;           // --code-page-size
  bool timestamps = true;                // -T, --no-timestamp
  bool timestamps_given = false;         // -T was on the command line
  std::optional<bool> period_in_sample;  // -P, --no-period
  bool data_source = false;              // --sample-mem-info
  bool cpu = false;                      // --sample-cpu
  bool identifier = false;               // --sample-identifier
  bool weight = false;                   // -W
  bool transaction = false;              // --transaction
  bool raw = false;                      // -R
  bool no_samples = false;               // -n
  bool thread_counts = false;            // -s
  bool running_time = false;             // --running-time
  uint64_t branch_types = 0;             // -b, -j
  uint64_t interrupt_registers = 0;      // -I
  uint64_t user_registers = 0;           // --user-regs
  std::optional<int32_t> clockid;        // -k

  bool group_all = false;          // --group
  bool all_user = false;           // --all-user
  bool all_kernel = false;         // --all-kernel
  bool kernel_callchains = false;  // --kernel-callchains
  bool user_callchains = false;    // --user-callchains

  bool namespaces = false;     // --namespaces
  bool cgroups = false;        // --all-cgroups
  bool switch_events = false;  // --switch-events
  bool bpf_events = true;      // --no-bpf-event
  bool buildid_mmap = false;   // --buildid-mmap
  bool overwrite = false;      // --overwrite
  /// With `overwrite`: what happens to tasks and memory is still read in full, from rings of its
  /// own.
  bool keep_sideband = false;
  bool no_buffering = false;  // --no-buffering

  /// In bytes: as many as perf copies where none are named.
  [[nodiscard]] uint32_t stack_dump_size() const { return dump_size.value_or(8192); }
};

/// -D: when events are on. Times are relative to the start of the target.
struct DelayOptions {
  bool start_disabled = false;  // -D -1, and whenever there is a delay
  uint64_t delay_ms = 0;        // -D N
  struct Range {
    uint64_t begin_ms, end_ms;
    bool operator==(const Range&) const = default;
  };
  std::vector<Range> ranges;  // -D a-b,c-d

  [[nodiscard]] bool any() const { return start_disabled || delay_ms > 0 || !ranges.empty(); }
};

/// --switch-output
struct SwitchOutputOptions {
  bool enabled = false;
  bool on_signal = false;
  uint64_t size_bytes = 0;
  uint64_t time_ms = 0;
  uint32_t max_files = 0;  // --switch-max-files; 0: keep all
};

/// --synth
struct SynthesisOptions {
  bool tasks = true;
  bool maps = true;
  bool cgroups = true;
  bool at_end = false;            // --tail-synthesize
  uint32_t map_timeout_ms = 500;  // --proc-map-timeout
};

enum class Affinity : uint8_t { kSystem, kNode, kCpu };

struct OutputOptions {
  std::string path;                    // -o; empty: perf.data, or stdout if that is a pipe
  int compression_level = 0;           // -z
  uint64_t max_size_bytes = 0;         // --max-size
  bool timestamp_name = false;         // --timestamp-filename
  std::optional<std::string> threads;  // --threads[=SPEC]
  uint32_t aio_blocks = 0;             // --aio[=N]
  uint64_t flush_bytes = 1;            // --mmap-flush
  bool kernel_copy = false;            // --kcore
};

struct BuildIdOptions {
  bool collect = true;          // -B
  bool update_cache = true;     // -N
  bool all = false;             // --buildid-all
  std::string cache_directory;  // ~/.debug
  bool debuginfod = false;      // the cache also gets what servers have (symbol/debuginfod.h)
};

struct ControlOptions {
  std::string fifo, ack_fifo;  // fifo:…
  int fd = -1, ack_fd = -1;    // fd:…
  [[nodiscard]] bool any() const { return !fifo.empty() || fd >= 0; }
};

/// Of events that write AUX areas (instruction traces).
struct AuxOptions {
  uint64_t area_pages = 0;       // -m ,N; 0: the default
  bool snapshot = false;         // -S: overwrite, and keep what is newest on SIGUSR2
  bool snapshot_at_end = false;  // -Se
  size_t snapshot_bytes = 0;     // -SN; 0: the whole area
  uint32_t sample_bytes = 0;     // --aux-sample: of the newest trace in samples; 0: none
  bool switch_events = true;     // not --no-switch-events
};

/// --off-cpu
struct OffCpuOptions {
  bool enabled = false;
  uint64_t long_ms = 500;  // --off-cpu-thresh: waits from here on get a sample each
  bool wakers = false;     // --off-cpu-waker: also record who ended them
};

/// --futex
struct FutexOptions {
  bool enabled = false;
  uint32_t most_rows = 10240;  // maximum number of sums
};

/// Which sides of virtual machines are recorded (by events without G and H), and the guests whose
/// kernels are described in the recording.
struct GuestOptions {
  bool host = true, guest = false;  // --host, --guest
  GuestFiles files;
};

class OwnedEvents;
class RecordTransform;
class StackWalker;

struct RecordOptions {
  TargetOptions target;
  SamplingOptions sampling;
  EventList events;
  EventList switch_output_events;    // --switch-output-event
  std::vector<std::string> cgroups;  // -G, by event index; may be shorter than the events
  uint64_t ring_pages = 0;           // -m; 0: what the kernel lets a user lock
  DelayOptions delay;
  SwitchOutputOptions switch_output;
  SynthesisOptions synthesis;
  OutputOptions output;
  BuildIdOptions build_ids;
  ControlOptions control;
  AuxOptions trace;
  OffCpuOptions off_cpu;
  FutexOptions futex;
  GuestOptions guests;
  Affinity affinity = Affinity::kSystem;
  int realtime_priority = 0;  // -r
  bool quiet = false;
  int verbose = 0;
  std::vector<std::string> command_line;  // for the CMDLINE feature
  OwnedEvents* made = nullptr;            // what was made for the events; must outlive the
                                          // recording
  RecordTransform* transform = nullptr;   // between rings and file; must outlive the recording
  StackWalker* walker = nullptr;          // opened beforehand, for --call-graph bpf; is moved from
};

}  // namespace sonde
