// Events of this machine by name, ready to be attached to: tracepoints, probes in tracefs, USDT
// probes, and functions of programs and of the kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/print_fmt/tracefs.h"
#include "event/print_fmt/tracepoint_format.h"
#include "histogram/event_fields.h"
#include "probe/probe_definition.h"
#include "probe/source/probed_code.h"
#include "probe/usdt/usdt_objects.h"

namespace sonde {

/// A tracepoint, or the places of a probe, which have the same fields.
struct LiveEvent {
  std::string name;  // for messages
  TracepointName tracepoint = {};
  std::optional<TracepointFormat> format = {};
  std::vector<ProbePlace> places = {};

  /// With its first place, if it has places.
  [[nodiscard]] FieldEvent fields(size_t place = 0) const {
    return {.name = name,
            .format = format ? &*format : nullptr,
            .place = places.empty() ? nullptr : &places[place]};
  }
};

struct EventSearch {
  bool functions = false;       // names are functions of the kernel,
  std::string executable = {};  // or of this program
  CodeSearch code = {};
  UsdtScope usdt = {};
  std::function<void(std::string_view)> note = {};
};

/// `name`: "SYSTEM:EVENT", of which both may be globs; "sdt_PROVIDER:NAME[@OBJECT]"; or a function
/// as `probe` defines it. `variables`: of a function, for its fields. Never empty. Errors as
/// those of tracefs, or of probe: no such event, function or variable.
[[nodiscard]] Result<std::vector<LiveEvent>> find_live_events(
    const std::string& name, const std::vector<std::string>& variables, const EventSearch& search,
    Tracefs& tracefs);

/// Whether a name is that of a function, if the search is for functions.
[[nodiscard]] bool names_function(const std::string& name, const EventSearch& search);

}  // namespace sonde
