// SyscallTrace: system calls as records, written by BPF programs to rings that are read in place.
//
//   SyscallTrace trace = TRY(SyscallTrace::open(calls, rules, {}));
//   trace.set_enabled(true);
//   // struct trace_record, programs/syscall_trace.h:
//   for (BpfRing& ring : trace.rings()) …
//
// The programs stay attached for the lifetime of the object, and disappear with the process however
// it ends: nothing is pinned. The records of a ring are ordered by time, except for calls that were
// written at the same moment; there is no order between rings.
//
// When a ring is more than a quarter full because the reader is behind, every fourth call of a
// thread waits a few microseconds (at most 45) before it returns, so that a loop of cheap calls is
// slowed down before it would lose records. Records that still find no room are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "bpf/bpf_ring.h"
#include "bpf/programs/syscall_trace.h"
#include "bpf/traced_calls.h"

namespace sonde {

class SyscallTrace {
 public:
  /// What is read from the traced program's memory for a call.
  struct CallRules {
    bool compat = false;
    uint32_t number = 0;
    std::vector<trace_rule> at_entry = {}, at_exit = {};  // at most TRACE_RULES together
    uint8_t descriptors = 0;  // a bit for each argument that is one: what it refers to is sent too
  };
  struct Settings {
    uint64_t ring_bytes = 0;  // per CPU; 0: chosen by the number of CPUs
    bool keep_pace = true;    // calls wait when the reader is behind
  };
  struct Loss {
    int cpu = 0;
    bool compat = false;
    uint32_t number = 0;
    uint64_t count = 0;
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<SyscallTrace> open(const TracedCalls& calls, std::span<const CallRules> rules,
                                   const Settings& settings);
  SyscallTrace(SyscallTrace&&) noexcept;
  SyscallTrace& operator=(SyscallTrace&&) noexcept;
  ~SyscallTrace();

  void set_enabled(bool enabled);
  /// Adds threads that were started before the programs could see it.
  void follow(std::span<const uint32_t> tids);
  [[nodiscard]] std::span<BpfRing> rings();
  /// Number of records so far that found no room.
  [[nodiscard]] uint64_t lost() const;
  /// The same by CPU and call. Reads a map from the kernel.
  [[nodiscard]] std::vector<Loss> losses() const;
  /// New threads that could not be followed because there were more than 65,536 at a time.
  [[nodiscard]] uint64_t tasks_not_followed() const;
  /// Whether any followed thread, or any thread they started, is left.
  [[nodiscard]] bool has_tasks() const;
  /// If only some calls' tracepoints are used: whether a 32-bit program, for which there are none,
  /// has started. Such programs are traced too from now on; true: their first calls were missed.
  Result<bool> include_new_compat_programs();
  /// The descriptor of the programs' map of this name (map_text.h).
  [[nodiscard]] Result<int> map(std::string_view name) const;

 private:
  struct State;
  explicit SyscallTrace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
