// BpfWatch: BPF programs loaded during a recording. Their code and types are read at once, because
// a program may be gone a moment later, and go into the file's BPF_PROG_INFO and BPF_BTF sections,
// so that a reader can annotate them.
//
// It opens its own events (one per CPU, BPF_EVENT records only, a wakeup per record), because the
// recording's rings are read far too late. Failing to open them is not an error: without the
// privilege there is no program to see either.
#pragma once

#include <vector>

#include "base/file.h"
#include "base/sys.h"
#include "capture/rings/ring_buffer.h"

namespace sonde {

class BpfWatch {
 public:
  /// Opens the events on `cpus`. Without the privilege, returns a watch without descriptors.
  static BpfWatch open(Sys& sys, const std::vector<int>& cpus);

  /// Descriptors that become readable when a program is loaded or unloaded.
  [[nodiscard]] std::vector<int> fds() const;
  /// Ids of the programs loaded since the last call.
  [[nodiscard]] std::vector<uint32_t> take();

 private:
  struct Ring {
    Fd event;  // outlives its mapping
    RingBuffer buffer;
  };
  std::vector<Ring> rings_;
};

}  // namespace sonde
