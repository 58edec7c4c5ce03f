// ThreadNames: the names of a recording's threads at each moment, from a first scan over it that
// looks at nothing else. For a second scan in time order that shows samples as they are
// (script/tracepoint_lines.h).
//
//   FileScan names_walk = …;
//   ThreadNames names(names_walk, losses);
//   names.machine().comm_at(tid, time);
#pragma once

#include "base/loss.h"
#include "base/string_pool.h"
#include "machine/machine.h"
#include "perfdata/read/file_scan.h"

namespace sonde {

class ThreadNames {
 public:
  /// Reads everything; `scan` must be at its start. What the kernel lost is counted by the scan for
  /// samples.
  ThreadNames(FileScan& scan, LossLedger& losses);
  ThreadNames(const ThreadNames&) = delete;
  ThreadNames& operator=(const ThreadNames&) = delete;

  /// Knows threads and their names, but no memory.
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  StringPool strings_;
  Machine machine_;
};

}  // namespace sonde
