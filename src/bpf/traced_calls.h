// TracedCalls: which system calls of which threads a BPF program traces. The kernel side decides by
// it, so that calls not asked for cost as little as possible.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"
#include "bpf/programs/traced_calls_settings.h"

namespace sonde {

struct TracedCalls {
  using Numbers = std::bitset<TRACED_NUMBERS>;

  FollowedTasks tasks = {};             // enable_on_exec: that execve itself is traced
  std::vector<uint32_t> excluded = {};  // never: threads, and processes with all their threads
  Numbers native, compat;               // call numbers; compat: of 32-bit programs
  /// The same calls by the names of their tracepoints ("newfstat"), if there are only a few: then
  /// the programs are attached only to these, and do not slow down other calls. Empty: attached to
  /// all.
  std::vector<std::string> tracepoints = {};
  int32_t native_execve = -1, compat_execve = -1;
  bool traces_exec = true;             // execve or execveat is among them
  std::vector<int> cpus = {};          // empty: all
  std::vector<uint64_t> cgroups = {};  // ids, including their descendants; empty: all
  bool failed_only = false;
  uint64_t min_duration_ns = 0;
};

/// Errors: more CPUs or groups than the programs have room for.
Result<> check_limits(const TracedCalls& calls);

/// Copies the settings into a skeleton of a program that includes programs/traced_calls.h, before
/// it is loaded.
template <typename Rodata>
void put_settings(const TracedCalls& calls, Rodata& rodata) {
  set_followed(calls.tasks, rodata);
  for (size_t number = 0; number < TRACED_NUMBERS; ++number) {
    uint64_t bit = uint64_t{1} << (number % 64);
    if (calls.native[number]) rodata.wanted_calls[0][number / 64] |= bit;
    if (calls.compat[number]) rodata.wanted_calls[1][number / 64] |= bit;
  }
  rodata.native_execve = calls.native_execve;
  rodata.compat_execve = calls.compat_execve;
  rodata.traces_exec = calls.traces_exec;
  rodata.only_compat = !calls.tracepoints.empty();
  rodata.filters_cpus = !calls.cpus.empty();
  for (int cpu : calls.cpus)
    rodata.wanted_cpus[static_cast<size_t>(cpu) / 64] |= uint64_t{1} << (cpu % 64);
  rodata.wanted_cgroup_count = static_cast<uint32_t>(calls.cgroups.size());
  for (size_t i = 0; i < calls.cgroups.size(); ++i) rodata.wanted_cgroups[i] = calls.cgroups[i];
  rodata.failed_only = calls.failed_only;
  rodata.min_duration_ns = calls.min_duration_ns;
}

}  // namespace sonde
