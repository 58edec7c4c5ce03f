// What a user's BPF program is to be attached to, as given by the name of its section:
//
//   sched:sched_switch                        a tracepoint; also tracepoint/sched/sched_switch
//   func=kmem_cache_alloc                     a kprobe, named func
//   exec=/usr/bin/x;\nentry=main              a uprobe at main of that file, named entry
//   done=main%return                          … where a function returns
//   exec=./app;work=work n p->size            … its arguments are passed to the program
//   kprobe/NAME, uprobe//PATH:FUNCTION …      libbpf's syntax for the same
//   raw_tp/sys_enter, tp_btf/…, usdt/…        what libbpf attaches itself: no perf event
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
  std::string event = {};   // its name; for a probe: the name given to it
  // For a probe:
  std::string object = {};  // the file; empty: the kernel
  std::string module = {};  // of the kernel
  // In perf's syntax, the definition, which is not looked into ("entry=main argc"), and whether
  // functions are also probed where they are inlined.
  std::string definition = {};
  bool no_inlines = false;
  // In libbpf's, with `event`:
  std::string function = {};
  uint64_t offset = 0;
  bool at_return = false;
  bool operator==(const ProgramSection&) const = default;
};

/// Errors: kUnsupported for what libbpf's syntax does not have (lines), kBadEvent for anything
/// else.
Result<ProgramSection> parse_program_section(std::string_view name);

}  // namespace sonde
