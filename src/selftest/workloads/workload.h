// Workloads: small programs inside the binary whose profile is known, under perf's names for them,
// their threads and their functions: `test -w NAME`. Suites record them, and so do the self-checks.
//
// Each is a file and a line in workloads.def. The files are compiled one by one (no unity build):
// several have a function `leaf`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde::selftest {

struct Workload {
  std::string_view name;
  std::string_view summary;  // with its arguments
  /// Runs in this process, and returns the exit status.
  int (*run)(std::span<const std::string> arguments);
};

[[nodiscard]] std::span<const Workload> workloads();
/// Null if there is none of this name.
[[nodiscard]] const Workload* find_workload(std::string_view name);

/// Names this thread, and sets its alarm: `is_over` is true when `seconds` have passed or on
/// SIGINT. The time is the first argument (0.5), or one second.
void begin_workload(const char* name, std::span<const std::string> arguments);
extern volatile int is_over;  // set by a signal handler

/// The argument at `i`, or `otherwise` if there is none or it is no number above 0.
[[nodiscard]] unsigned number_at(std::span<const std::string> arguments, size_t i,
                                 unsigned otherwise);

/// A function that stays what its source says: neither inlined nor specialised.
#if defined(__clang__)
#define SONDE_KEPT __attribute__((noinline))
#else
#define SONDE_KEPT __attribute__((noipa))
#endif

/// In a function that is not to lose its frame because it calls nobody.
[[gnu::always_inline]] inline void keep_frame() {
  asm volatile("" : : "r"(__builtin_frame_address(0)));
}

#define WORKLOAD(name, summary) int run_##name(std::span<const std::string> arguments);
#include "selftest/workloads/workloads.def"
#undef WORKLOAD

}  // namespace sonde::selftest
