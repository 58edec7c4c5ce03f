#include "probe/owned_probes.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "event/parser/owned_group.h"

namespace sonde {
namespace {

constexpr const char* kDefinitionFiles[] = {"uprobe_events", "kprobe_events"};

/// 0 or an errno.
int append_line(const std::string& path, std::string_view line) {
  // Opening without O_APPEND would remove everybody's probes.
  Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.valid()) return errno;
  ssize_t written = ::write(file.get(), line.data(), line.size());
  return written == static_cast<ssize_t>(line.size()) ? 0 : written < 0 ? errno : EIO;
}

/// Removes all probes whose group's maker `is_gone`; false if some are still in use.
template <typename IsGone>
bool remove_probes(const std::string& tracefs, const IsGone& is_gone) {
  bool all = true;
  for (const char* name : kDefinitionFiles) {
    std::string path = tracefs + "/" + name;
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
      if (append_line(path, "-:" + event + "\n") == EBUSY) all = false;
      last = event;
    }
  }
  return all;
}

/// The fields of a place's samples: "arg1:s32 arg2:u64 ". The same for all places that share an
/// event.
std::string fields_of(const ProbePlace& place) {
  std::string fields;
  for (std::string_view argument : place.arguments) {
    size_t type = argument.rfind(':');
    fields += argument.substr(0, argument.find('='));
    if (type != std::string_view::npos) fields += argument.substr(type);
    fields += ' ';
  }
  return fields;
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

std::string OwnedProbes::definitions_file(bool in_kernel) const {
  return tracefs_ + "/" + kDefinitionFiles[in_kernel ? 1 : 0];
}

Result<> OwnedProbes::start_guard() {
  if (guard_.started()) return {};
  remove_orphaned_probes(tracefs_);
  guard_ = TRY(EndGuard::start("sonde-probes", [maker = ::getpid(), tracefs = tracefs_] {
    remove_probes_of(maker, tracefs);
  }));
  return {};
}

std::string OwnedProbes::kernels_reason() const {
  Result<std::string> log = read_file(tracefs_ + "/error_log");
  if (!log) return {};
  size_t last = log->rfind("error: ");
  if (last == std::string::npos) return {};
  size_t start = last + std::string_view("error: ").size();
  return ": " + log->substr(start, log->find('\n', start) - start);
}

Result<> OwnedProbes::define(const TracepointName& event, const ProbePlace& place) {
  std::string path = definitions_file(place.in_kernel());
  std::string definition = probe_definition(event.system, event.name, place);
  int error = append_line(path, definition + "\n");
  if (error == 0) return {};
  if (error == ENOENT && ::access(path.c_str(), F_OK) != 0)
    return fail(ErrorCode::kUnsupported, "{} does not exist: this kernel has no {}", path,
                place.in_kernel() ? "kprobes" : "uprobes");
  bool refused = error == EACCES || error == EPERM;
  return fail(refused ? ErrorCode::kPermission : ErrorCode::kUnsupported,
              "cannot make a probe in {}: {}{}\n  {}",
              place.in_kernel() ? place.symbol : place.object, std::strerror(error),
              refused ? "" : kernels_reason(),
              refused ? path + " must be writable: try sudo" : definition);
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
                     [&](const Made& made) { return made.fields == fields_of(place); });
    // Kernels before 5.5 allow one place per event.
    if (same != made_.end() && define(same->event, place)) continue;
    std::string unique = base;
    for (size_t i = 1; is_taken(unique); ++i) unique = fmt::format("{}_{}", base, i);
    TracepointName event{group, unique};
    TRY(define(event, place));
    made_.push_back({event, place.in_kernel(), fields_of(place)});
    events.push_back(std::move(event));
  }
  return events;
}

OwnedProbes::~OwnedProbes() {
  for (const Made& made : made_)
    (void)append_line(definitions_file(made.in_kernel),
                      fmt::format("-:{}/{}\n", made.event.system, made.event.name));
}

}  // namespace sonde
