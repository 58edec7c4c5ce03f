// CaptureEvent: one event on its way from the command line into the kernel. It starts as a parsed
// event, `configure_events` completes its attr, and `EventOpener` fills in the descriptors.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "event/parser/event_list.h"
#include "perfdata/header/dummy_event.h"

namespace sonde {

/// An event opened on one CPU for one thread.
struct OpenedEvent {
  int fd = -1;
  int cpu = -1;    // -1: any
  pid_t tid = -1;  // -1: any
  uint64_t id = 0;
  uint32_t ring = 0;  // index of the ring it writes to
};

struct CaptureEvent {
  ParsedEvent parsed;             // name, attr, terms, filter …
  std::string cgroup;             // record only tasks of this cgroup; empty: all
  int cgroup_fd = -1;             // descriptor of the cgroup's directory, if any
  bool is_tracking = false;       // carries the sideband: mmap, comm, task …
  bool is_immediate = false;      // counts as soon as it is opened
  bool is_added = false;          // the dummy that the recorder added to carry the sideband
  bool is_trace = false;          // writes an AUX area
  bool is_system_wide = false;    // opened for whole CPUs, whatever the target
  bool adds_switches = false;     // a dummy beside a trace, for context switches
  bool adds_text_pokes = false;   // a dummy beside a trace, for changes of the kernel's code
  bool is_unsupported = false;    // counting only: there is no such counter; not an error
  bool is_in_family = false;      // counting only: counted by a SyscallFamily, nothing is opened
  bool by_task_counters = false;  // counting only: counted by TaskCounters, nothing is opened here
  std::vector<OpenedEvent> opened;

  [[nodiscard]] abi::EventAttr& attr() { return parsed.attr; }
  [[nodiscard]] const abi::EventAttr& attr() const { return parsed.attr; }
  [[nodiscard]] bool is_dummy() const { return sonde::is_dummy(parsed.attr); }
};

}  // namespace sonde
