// The instruction traces of a recording: their setup, their bytes by CPU or thread, and which task
// ran on a CPU when.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "etm/trace_unit.h"
#include "perfdata/read/recording.h"
#include "pt/flow_decoder.h"

namespace sonde::itrace {

/// From time stamp counter to the recording's clock, by the kernel's conversion.
struct TraceClock {
  uint64_t shift = 0, multiplier = 0, zero = 0;
  [[nodiscard]] uint64_t to_ns(uint64_t tsc) const {
    if (multiplier == 0 || shift > 63) return tsc;
    uint64_t whole = tsc >> shift, rest = tsc & ((uint64_t{1} << shift) - 1);
    return zero + whole * multiplier + ((rest * multiplier) >> shift);
  }
  /// Of a span of time.
  [[nodiscard]] uint64_t to_ticks(uint64_t ns) const {
    if (multiplier == 0 || shift > 31) return ns;
    return ((ns / multiplier) << shift) + ((ns % multiplier) << shift) / multiplier;
  }
};

/// A piece of trace, contiguous in time.
struct TracePiece {
  Bytes bytes;
  uint64_t offset = 0;     // in the queue
  uint64_t reference = 0;  // when it was taken, in the trace's time; 0: not known
};

/// What the tracer wrote between two times at which its buffer was looked after; told by an AUX
/// record. Traces of CoreSight begin anew in each.
struct TraceStretch {
  uint64_t offset = 0, size = 0;  // in the queue
  uint64_t time_ns = 0;           // when it ended
  uint32_t cpu = UINT32_MAX;      // UINT32_MAX: not known
  bool is_raw = false;            // one unit's trace, not in frames
};

/// What one AUX buffer recorded.
struct TraceQueue {
  uint32_t cpu = UINT32_MAX;  // UINT32_MAX: the buffer belongs to a thread
  uint32_t tid = UINT32_MAX;
  std::vector<TracePiece> pieces;
  std::vector<TraceStretch> stretches;  // of CoreSight
};

/// A task began to run on a CPU.
struct TaskSwitch {
  uint64_t time_ns;
  uint32_t cpu, pid, tid;
  uint32_t moves = 0;  // how often the task had changed its CPU
};

/// Data that did not fit into the AUX buffer.
struct LostTrace {
  uint64_t time_ns;
  uint32_t cpu, pid, tid;
};

/// From then on, a counter whose records go to the trace counts an event.
struct AuxOutputId {
  uint64_t time_ns;
  uint32_t cpu, tid;
  uint64_t counter;
  EventId event;
  uint64_t id;  // of its samples
};

enum class Tracer : uint8_t { kIntelPt, kCoreSight, kIntelBts, kArmSpe };

struct TraceInput {
  Tracer tracer = Tracer::kIntelPt;
  uint32_t pmu_type = 0;
  bool per_cpu = false;
  bool has_times = true;  // its samples have times
  TraceClock clock;
  pt::TraceSetup setup;               // of Intel PT
  bool tells_ptwrite_ip = false;      // fup_on_ptw: the trace has the address of each PTWRITE
  bool tells_interrupt_flag = false;  // MODE.Exec packets have it: so the processor says
  bool has_mtc = false;               // MTC packets tell times between those of TSC packets
  std::vector<etm::TraceUnit> units;  // of CoreSight
  uint64_t midr = 0;                  // of the processor of Arm's SPE
  /// Of CoreSight's timestamps, if they can be converted; `clock` then leaves times alone.
  std::optional<TraceClock> counter;
  std::vector<TraceQueue> queues;
  std::vector<TaskSwitch> switches;  // by CPU and time
  /// Of a CPU's area, and of a thread's; in the order of the recording.
  std::map<uint32_t, std::vector<LostTrace>> lost_on_cpu, lost_of_thread;
  std::vector<AuxOutputId> aux_output_ids;
  /// Events with `aux_output` that the recording has samples of outside of the trace.
  std::vector<EventId> sampled_aux_output;
};

/// From the recorded processor's time stamp counter to the kernel's clock, as TIME_CONV tells; no
/// multiplier: the recording does not say.
TraceClock cycle_clock_of(const Recording& recording);

/// The frequency of the time stamp counter in bus clocks, the core's largest one without turbo; 0:
/// not known.
uint32_t base_ratio(const TraceInput& input);

/// Whether the recording has AUX data, as pieces of its own or in samples.
bool has_traces(const Recording& recording);

/// kUnsupported if something else traced.
Result<TraceInput> read_traces(const Recording& recording);

}  // namespace sonde::itrace
