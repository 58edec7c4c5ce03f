// ThreadNames: the names of a recording's threads at each moment, from a first walk over it that
// looks at nothing else. For a second walk in time order that shows samples as they are
// (script/tracepoint_lines.h).
//
//   FileWalk names_walk = …;
//   ThreadNames names(names_walk, losses);
//   names.machine().comm_at(tid, time);
#pragma once

#include "base/loss.h"
#include "base/string_pool.h"
#include "machine/machine.h"
#include "perfdata/read/file_walk.h"

namespace sonde {

class ThreadNames {
 public:
  /// Reads everything; `walk` must be at its start. Samples that the kernel reports as lost are
  /// counted here, as a walk for samples does not look at such records.
  ThreadNames(FileWalk& walk, LossLedger& losses);
  ThreadNames(const ThreadNames&) = delete;
  ThreadNames& operator=(const ThreadNames&) = delete;

  /// Knows threads and their names, but no memory.
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  StringPool strings_;
  Machine machine_;
};

}  // namespace sonde
