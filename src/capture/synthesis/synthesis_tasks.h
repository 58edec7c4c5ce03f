// Tasks that are already running, described as the kernel would have described them had we listened
// from their start: COMM, FORK, NAMESPACES and MMAP2 records made from /proc.
//
// Processes are read in parallel and their records joined in pid order, so the result does not
// depend on the number of threads. When synthesising all tasks, those that end meanwhile are left
// out; of tasks requested by number, those that are gone are counted (loss: task_vanished).
#pragma once

#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "base/loss.h"
#include "capture/opening/thread_map.h"

namespace sonde {

struct TaskSynthesis {
  const abi::EventAttr* attr = nullptr;  // of the recording's first event: layout of the id block
  bool maps = true;
  bool data_maps = false;  // also non-executable mappings (-d)
  bool namespaces = false;
  bool build_ids = false;         // in MMAP2 records (--buildid-mmap)
  uint32_t map_timeout_ms = 500;  // per process
  std::string proc = "/proc";
};

/// Every process and thread on the machine; in a PID namespace also that task 0 is all others
/// (machine/machine.h).
void synthesise_all_tasks(const TaskSynthesis& options, ByteBuilder& out);

/// Only these threads, as for `-p` and `-t`: no FORK records.
void synthesise_threads(const std::vector<ThreadEntry>& threads, const TaskSynthesis& options,
                        LossLedger& losses, ByteBuilder& out);

/// The command's first record: a task that is about to exec.
void synthesise_command(pid_t pid, const TaskSynthesis& options, ByteBuilder& out);

}  // namespace sonde
