// Tasks that already run, described as the kernel would have described them had we listened from
// their start: COMM, FORK, NAMESPACES and MMAP2 records made from /proc.
//
// Processes are read in parallel and their records joined in order of pid, so the result does not
// depend on the number of threads. Of all tasks, those that end meanwhile are left out; of tasks
// that were asked for by number, those that are gone are counted (loss: task_vanished).
#pragma once

#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "base/loss.h"
#include "capture/thread_map.h"

namespace sonde {

struct TaskSynthesis {
  const abi::EventAttr* attr = nullptr;  // of the recording's first event: the id block's layout
  bool maps = true;
  bool data_maps = false;  // also mappings that are not executable (-d)
  bool namespaces = false;
  bool build_ids = false;         // in MMAP2 records (--buildid-mmap)
  uint32_t map_timeout_ms = 500;  // per process
  std::string proc = "/proc";
};

/// Every process and thread of the machine.
void synthesise_all_tasks(const TaskSynthesis& options, ByteBuilder& out);

/// These threads only, as `-p` and `-t` want them: no FORK records.
void synthesise_threads(const std::vector<ThreadEntry>& threads, const TaskSynthesis& options,
                        LossLedger& losses, ByteBuilder& out);

/// The command's own first record: a task that is about to exec.
void synthesise_command(pid_t pid, const TaskSynthesis& options, ByteBuilder& out);

}  // namespace sonde
