// ProbeEvents: the dynamic probes in tracefs, everybody's: listed, made and removed.
//
//   ProbeEvents events(tracefs.path());
//   TRY(events.add(named, 0));
//   TRY(events.remove(filter));
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "probe/events/probe_names.h"
#include "probe/name_filter.h"

namespace sonde {

/// A probe as tracefs lists it.
struct ListedProbe {
  TracepointName event;
  ProbePlace place;  // kernel: `symbol` may be "_text+8961856", as perf writes it
  std::string definition;
};

/// "r:probe_libc/malloc__return /usr/lib/libc.so.6:0x0000000000098930(0x3020) arg1=$retval"; also
/// "r16:…". kCorrupt if it is no such line: other dynamic events ("e:", "s:", "f:", "t:") aren't.
[[nodiscard]] Result<ListedProbe> parse_listed_probe(std::string_view line);

/// "retval" of "retval=$retval:s32"; what the kernel calls it if it has no name: "arg2".
[[nodiscard]] std::string argument_name(std::string_view argument, size_t index);

/// perf's rule for -l and -d: the filter matches the name of the event, or group and name.
[[nodiscard]] bool selects(const NameFilter& filter, const TracepointName& event);

class ProbeEvents {
 public:
  /// `tracefs`: where it is mounted; empty: it isn't.
  explicit ProbeEvents(std::string tracefs) : tracefs_(std::move(tracefs)) {}

  /// In the order of names. kPermission if tracefs may not be read.
  [[nodiscard]] Result<std::vector<ListedProbe>> all() const;
  /// Names of all, for ProbeNames.
  [[nodiscard]] Result<std::vector<TracepointName>> names() const;

  /// Makes all or none: after an error, or a signal in between that ends us, those already made are
  /// removed. `namespace_pid`: objects are looked up as this process sees them; 0: as we do.
  Result<> add(const std::vector<NamedProbe>& probes, int namespace_pid) const;

  /// Removes what `add` has just made.
  void undo(const std::vector<NamedProbe>& probes) const;

  /// Removes what the filter selects where `is_meant`, and returns it; empty: nothing did. kFailed,
  /// with the name, if one is in use.
  using IsMeant = std::function<bool(const ProbePlace&)>;
  Result<std::vector<TracepointName>> remove(const NameFilter& filter,
                                             const IsMeant& is_meant) const;

 private:
  [[nodiscard]] Result<> check_mounted() const;

  std::string tracefs_;
};

}  // namespace sonde
