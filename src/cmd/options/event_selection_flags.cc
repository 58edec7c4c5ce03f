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
  declare('e', "event", "event",
          "the events: commas separate them, braces make a group, as in '{cycles,instructions}'; "
          "`list` names them",
          &EventSelection::add_events);
  declare(0, "probe", "definition",
          "make a dynamic probe for this run (see the manual of probe): --probe 'malloc size=%di'. "
          "It is looked for in the program, its libraries, and the kernel; an absolute path in "
          "front names the object: --probe '/path/to/lib.so malloc'",
          &EventSelection::add_probe);
  declare(0, "pfm-events", "event", "the events, by their names in libpfm4; `list pfm` has them",
          &EventSelection::add_pfm_events);
  declare(0, "filter", "filter",
          "of the events of the -e before it, only those with such fields: 'prev_pid != 0'",
          &EventSelection::add_filter);
  declare('G', "cgroup", "name",
          "with -a or -C: the events before it only in this cgroup; several: one for each event",
          &EventSelection::add_cgroups);
}

}  // namespace sonde
