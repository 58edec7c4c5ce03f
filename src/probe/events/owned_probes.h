// OwnedProbes: uprobes and kprobes in tracefs that live as long as this object, however the process
// ends.
//
//   OwnedProbes probes(tracefs.path());
//   std::vector<TracepointName> made = TRY(probes.add("sdt_app", "start", places));
//   … perf_event_open with their ids …
//
// They are in groups private to this process (event/parser/owned_group.h), and are removed by the
// destructor, so the events must be closed before. A killed process removes nothing: for that case
// a child is started with the first probe. It waits for our end (a pipe that closes with us,
// whatever the cause) and then removes what is left, as soon as the kernel no longer uses it. If
// that child is killed too, the next process that makes probes removes those of processes that are
// gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/process/end_guard.h"
#include "event/print_fmt/tracefs.h"
#include "probe/probe_definition.h"

namespace sonde {

class OwnedProbes {
 public:
  explicit OwnedProbes(std::string tracefs) : tracefs_(std::move(tracefs)) {}
  OwnedProbes(const OwnedProbes&) = delete;
  OwnedProbes& operator=(const OwnedProbes&) = delete;
  ~OwnedProbes();

  /// Makes one event for all the places; places whose fields differ from the first's cannot share
  /// an event and get their own, NAME_1, NAME_2 … Errors: kPermission if tracefs may not be
  /// written, kUnsupported with the kernel's reason if it refuses.
  Result<std::vector<TracepointName>> add(std::string_view system, std::string_view name,
                                          const std::vector<ProbePlace>& places);

 private:
  struct Made {
    TracepointName event;
    bool in_kernel;
    std::string fields;
  };
  Result<> define(const TracepointName& event, const ProbePlace& place);
  Result<> start_guard();

  std::string tracefs_;
  std::vector<Made> made_;
  EndGuard guard_;
};

/// Removes the probes in tracefs that were left behind by processes that no longer exist.
void remove_orphaned_probes(const std::string& tracefs);

}  // namespace sonde
