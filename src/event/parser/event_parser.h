// The event language of `-e`: hardware, software, cache, raw, breakpoint and PMU events,
// tracepoints with globs, USDT probes, BPF programs, terms, modifiers and groups.
//
//   cycles:u,{instructions,branches}:S,sched:sched_switch,'syscalls:sys_enter_*'
//   cpu/event=0x3c,umask=1,name=busy/pp      mem:0x1000/8:rw      cs/max-stack=5,call-graph=fp/
//
// Two steps: event_syntax.h turns text into a tree without looking at the machine; this turns the
// tree into attrs, reading from sysfs and tracefs only what the tree names. Errors are perf's: the
// text with a caret under the position and then, for unknown names, the nearest ones and the
// command that lists them.
#pragma once

#include <string_view>
#include <vector>

#include "event/parser/event_factory.h"
#include "event/parser/event_list.h"
#include "event/pmu/pmu.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

class VendorEvents;

/// Where names are looked up, and the tool's name for messages.
struct EventSources {
  PmuCatalog& pmus;
  Tracefs& tracefs;
  std::string_view tool = "sonde";
  /// Refuse terms that only make sense for sampling, as `stat` does.
  bool counting = false;
  /// Messages truncate the event's text so that their first line fits.
  unsigned columns = 80;
  /// Makes USDT probes and BPF programs; null if they are not available.
  EventFactory* maker = nullptr;
  /// The processor vendor's names, for what nothing else knows; null: none.
  VendorEvents* vendor = nullptr;
};

/// Parses the argument of one -e. Error: kBadEvent; the message is everything that perf prints
/// before the usage text.
Result<std::vector<ParsedEvent>> parse_events(std::string_view text, const EventSources& sources);

/// The same, appended to a list as one more -e.
Result<> parse_events(std::string_view text, const EventSources& sources, EventList& list);

}  // namespace sonde
