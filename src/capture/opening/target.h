// Target: where events are opened. Each event is opened once per (CPU, thread) pair:
//
//   a command, -p, -t, -u     every CPU × the threads         (the threads' work on any CPU)
//   --per-thread              "any CPU" × the threads         (one ring per thread, no inheritance)
//   -a, -C                    the CPUs × "any thread"
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "capture/opening/thread_map.h"
#include "capture/recorders/record_options.h"

namespace sonde {

struct Target {
  enum class Kind : uint8_t { kCommand, kTasks, kCpus };
  Kind kind = Kind::kCpus;
  std::vector<int> cpus;  // {-1}: any CPU
  std::vector<ThreadEntry>
      threads;  // {{-1}}: any thread; for a command, filled in when it is forked
  bool per_thread = false;
  // The processes or the user whose threads were chosen; neither: `threads` were named themselves.
  std::string pids = {}, user = {};

  [[nodiscard]] bool has_cpu() const { return kind == Kind::kCpus; }
  [[nodiscard]] bool is_command() const { return kind == Kind::kCommand; }
};

/// Mutually exclusive combinations are resolved as by perf; `warnings` gets a line for each.
/// Without any target, every CPU is meant.
Result<Target> resolve_target(const TargetOptions& options, std::vector<std::string>& warnings);

/// The threads that the target's processes or user have now; none if `threads` were named
/// themselves.
[[nodiscard]] std::vector<ThreadEntry> threads_now(const Target& target);

}  // namespace sonde
