// CountOptions: everything the `stat` command line decides about *what* is counted and for how
// long, as data. Aggregating and showing the counts is up to analysis and render.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/recorders/record_options.h"
#include "event/parser/event_list.h"

namespace sonde {

struct CountOptions {
  TargetOptions target;                // per_thread: one row per thread (--per-thread)
  EventList events;                    // empty: only time is measured (-n)
  std::vector<std::string> cgroups;    // -G, --for-each-cgroup: by event index; may be shorter
  OwnedEvents* made = nullptr;         // what was made for the events; must outlive the run
  bool no_inherit = false;             // -i
  bool all_user = false;               // --all-user
  bool all_kernel = false;             // --all-kernel
  bool group_all = false;              // -g
  bool bpf_counters = false;           // --bpf-counters
  std::string bpf_attr_map;            // --bpf-attr-map; empty: perf's default, if that is possible
  std::vector<uint32_t> bpf_programs;  // -b: count while the programs with these ids run

  DelayOptions delay;           // -D
  ControlOptions control;       // --control
  uint64_t interval_ms = 0;     // -I; 0: counts are read once, at the end
  uint64_t interval_count = 0;  // --interval-count; 0: no limit
  uint64_t timeout_ms = 0;      // --timeout; 0: none
  bool quiet = false;
  int verbose = 0;
  bool to_file = false;           // stat record: every counter needs its own id
  bool output_to_stdout = false;  // a recording goes to stdout, which the command must leave alone
};

}  // namespace sonde
