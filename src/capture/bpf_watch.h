// BpfWatch: BPF programs that are loaded while a recording goes on. Their code and types are asked
// for at once, as a program may be gone a moment later, and go into the file's BPF_PROG_INFO and
// BPF_BTF sections, so that a reader can annotate them.
//
// It has events of its own (one per CPU, nothing but BPF_EVENT records, a wakeup each): what the
// recording's own rings hold is read far too late. That they could not be opened is no error:
// without the privilege for it there is no program to see either.
#pragma once

#include <vector>

#include "base/file.h"
#include "base/sys.h"
#include "capture/ring_buffer.h"

namespace sonde {

class BpfWatch {
 public:
  /// Opens the events on `cpus`; without the right to, a watch without descriptors.
  static BpfWatch open(Sys& sys, const std::vector<int>& cpus);

  /// Descriptors that become readable when a program is loaded or unloaded.
  [[nodiscard]] std::vector<int> fds() const;
  /// Ids of programs that were loaded since the last call.
  [[nodiscard]] std::vector<uint32_t> take();

 private:
  struct Ring {
    Fd event;  // outlives its mapping
    RingBuffer buffer;
  };
  std::vector<Ring> rings_;
};

}  // namespace sonde
