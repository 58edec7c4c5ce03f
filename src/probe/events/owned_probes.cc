#include "probe/events/owned_probes.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "event/parser/owned_group.h"
#include "probe/events/definition_file.h"

namespace sonde {
namespace {

/// Removes all probes whose group's maker `is_gone`; false if some are still in use.
template <typename IsGone>
bool remove_probes(const std::string& tracefs, const IsGone& is_gone) {
  bool all = true;
  for (bool in_kernel : {false, true}) {
    std::string path = definition_file(tracefs, in_kernel);
    Result<std::string> text = read_file(path);
    if (!text) continue;
    std::string last;
    for (std::string_view line : split(*text, '\n')) {
      // "p:group/event …", "r16:group/event …"
      size_t colon = line.find(':');
      size_t slash = line.find('/', colon);
      size_t blank = line.find(' ');
      if (colon >= blank || slash >= blank) continue;
      pid_t maker = maker_of_group(line.substr(colon + 1, slash - colon - 1));
      std::string event(line.substr(colon + 1, blank - colon - 1));
      if (maker == 0 || event == last || !is_gone(maker)) continue;
      if (append_definition(path, "-:" + event + "\n") == EBUSY) all = false;
      last = event;
    }
  }
  return all;
}

/// What the guard does when the process that made the probes is gone.
void remove_probes_of(pid_t maker, const std::string& tracefs) {
  // Events that are still open, in a child that closes them slowly, keep their probes in use for a
  // while.
  constexpr int kAttempts = 1200;
  constexpr timespec kPause{0, 50'000'000};
  auto is_ours = [&](pid_t other) { return other == maker; };
  for (int i = 0; i < kAttempts && !remove_probes(tracefs, is_ours); ++i)
    ::nanosleep(&kPause, nullptr);
}

}  // namespace

void remove_orphaned_probes(const std::string& tracefs) {
  remove_probes(tracefs, [](pid_t maker) { return ::kill(maker, 0) != 0 && errno == ESRCH; });
}

Result<> OwnedProbes::start_guard() {
  if (guard_.started()) return {};
  remove_orphaned_probes(tracefs_);
  guard_ = TRY(EndGuard::start("sonde-probes", [maker = ::getpid(), tracefs = tracefs_] {
    remove_probes_of(maker, tracefs);
  }));
  return {};
}

Result<> OwnedProbes::define(const TracepointName& event, const ProbePlace& place) {
  TRY(check_definition(event.system, event.name, place));
  std::string path = definition_file(tracefs_, place.in_kernel());
  std::string definition = probe_definition(event.system, event.name, place);
  int error = append_definition(path, definition + "\n");
  if (error == 0) return {};
  return std::unexpected(definition_refused(tracefs_, place, definition, error));
}

Result<std::vector<TracepointName>> OwnedProbes::add(std::string_view system, std::string_view name,
                                                     const std::vector<ProbePlace>& places) {
  TRY(start_guard());
  std::string group = own_group(system);
  std::vector<TracepointName> events;
  std::string base(name);
  auto is_taken = [&](const std::string& candidate) {
    return std::ranges::any_of(made_, [&](const Made& made) {
      return made.event.system == group && made.event.name == candidate;
    });
  };
  size_t first_of_ours = made_.size();
  for (const ProbePlace& place : places) {
    auto same =
        std::find_if(made_.begin() + static_cast<std::ptrdiff_t>(first_of_ours), made_.end(),
                     [&](const Made& made) { return made.fields == event_fields(place); });
    // Kernels before 5.5 allow one place per event.
    if (same != made_.end() && define(same->event, place)) continue;
    std::string unique = base;
    for (size_t i = 1; is_taken(unique); ++i) unique = fmt::format("{}_{}", base, i);
    TracepointName event{group, unique};
    TRY(define(event, place));
    made_.push_back({event, place.in_kernel(), event_fields(place)});
    events.push_back(std::move(event));
  }
  return events;
}

OwnedProbes::~OwnedProbes() {
  for (const Made& made : made_)
    (void)append_definition(definition_file(tracefs_, made.in_kernel),
                            fmt::format("-:{}/{}\n", made.event.system, made.event.name));
}

}  // namespace sonde
