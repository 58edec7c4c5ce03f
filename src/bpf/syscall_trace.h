// SyscallTrace: system calls as records, written by BPF programs into rings that are read in place.
//
//   SyscallTrace trace = TRY(SyscallTrace::open(calls, rules, {}));
//   trace.set_enabled(true);
//   for (BpfRing& ring : trace.rings()) …             // struct trace_record,
//   programs/syscall_trace.h
//
// The programs are attached as long as the object lives, and go with the process however it dies:
// nothing is pinned. In a ring records are ordered by time but for calls that were written at the
// same moment; rings are not ordered among each other.
//
// When a ring is filled beyond a quarter because the reader is behind, every fourth call of a
// thread waits for some microseconds before it returns (not more than 45): so a loop of cheap calls
// is slowed down before it would lose some. What finds no room all the same is counted.
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
  /// What is read from the program's memory for a call.
  struct CallRules {
    bool compat = false;
    uint32_t number = 0;
    std::vector<trace_rule> at_entry = {}, at_exit = {};  // TRACE_RULES together at most
  };
  struct Settings {
    uint64_t ring_bytes = 0;  // of each CPU; 0: a choice by the number of CPUs
    bool keep_pace = true;    // calls wait while the reader is behind
  };
  struct Loss {
    int cpu = 0;
    bool compat = false;
    uint32_t number = 0;
    uint64_t count = 0;
  };

  /// Errors say what the kernel refused, and its verifier's last words.
  static Result<SyscallTrace> open(const TracedCalls& calls, std::span<const CallRules> rules,
                                   const Settings& settings);
  SyscallTrace(SyscallTrace&&) noexcept;
  SyscallTrace& operator=(SyscallTrace&&) noexcept;
  ~SyscallTrace();

  void set_enabled(bool enabled);
  /// Threads that were started before the programs could see it.
  void follow(std::span<const uint32_t> tids);
  [[nodiscard]] std::span<BpfRing> rings();
  /// Records that found no room, so far.
  [[nodiscard]] uint64_t lost() const;
  /// By CPU and call. Reads a table from the kernel.
  [[nodiscard]] std::vector<Loss> losses() const;
  /// New threads that could not be followed, because more than 65,536 were at a time.
  [[nodiscard]] uint64_t tasks_not_followed() const;
  /// Whether any of the threads that are followed is left, or what they started.
  [[nodiscard]] bool has_tasks() const;
  /// Where only the tracepoints of some calls are used: a 32-bit program began, for which there are
  /// none. Looks after those, too, from now on; true: their first calls were not seen.
  Result<bool> include_new_compat_programs();

 private:
  struct State;
  explicit SyscallTrace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
