#include "cmd/options/event_selection_flags.h"

namespace sonde {

void declare_event_selection(FlagTable& flags, EventSelection& selection) {
  auto declare = [&](char letter, const char* name, const char* argument, const char* help,
                     void (EventSelection::*add)(std::string)) {
    flags.call(letter, name, argument, help, [&selection, add](std::string_view text) -> Result<> {
      (selection.*add)(std::string(text));
      return {};
    });
  };
  declare('e', "event", "event", "event selector. use 'perf list' to list available events",
          &EventSelection::add_events);
  declare(0, "probe", "definition",
          "make a dynamic probe for this run (see the manual of probe): --probe 'malloc size=%di'. "
          "It is looked for in the program, its libraries, and the kernel; an absolute path in "
          "front names the object: --probe '/path/to/lib.so malloc'",
          &EventSelection::add_probe);
  declare(0, "pfm-events", "event",
          "libpfm4 event selector. use 'perf list pfm' to list available events",
          &EventSelection::add_pfm_events);
  declare(0, "filter", "filter", "event filter", &EventSelection::add_filter);
  declare('G', "cgroup", "name", "monitor event in cgroup name only", &EventSelection::add_cgroups);
}

}  // namespace sonde
