// What a BPF program of the user's is to be attached to, as the name of its section says it:
//
//   sched:sched_switch                        a tracepoint; also tracepoint/sched/sched_switch
//   func=kmem_cache_alloc                     a kprobe, named func
//   exec=/usr/bin/x;\nentry=main              a uprobe at main of that file, named entry
//   done=main%return                          … where a function returns
//   kprobe/NAME, uprobe//PATH:FUNCTION …      libbpf's words for the same
//   raw_tp/sys_enter, tp_btf/…, usdt/…        what libbpf attaches by itself: no perf event
//
// The first four are perf's (perf-record(1), "BPF source file").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

struct ProgramSection {
  enum class Kind : uint8_t { kTracepoint, kProbe, kAttachedByLibbpf };
  Kind kind = Kind::kTracepoint;
  std::string system = {};  // of a tracepoint
  std::string event = {};   // its name; of a probe: the name it is given
  // Of a probe:
  std::string object = {};  // the file; empty: the kernel
  std::string module = {};  // of the kernel
  std::string function = {};
  uint64_t offset = 0;
  bool at_return = false;
  bool operator==(const ProgramSection&) const = default;
};

/// Errors: kUnsupported for what cannot be (arguments by name, lines), kBadEvent for what is none
/// of these.
Result<ProgramSection> parse_program_section(std::string_view name);

}  // namespace sonde
