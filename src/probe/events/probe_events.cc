#include "probe/events/probe_events.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "probe/events/definition_file.h"

namespace sonde {
namespace {

constexpr std::array kDeferredSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
// A handler can reach nothing else. Blocking the signals would not do: threads that read objects
// may be there, and any of them can take a signal.
volatile std::sig_atomic_t arrived_signal = 0;

/// While it lives, signals that would end us wait; the last that came then has its effect.
class DeferredSignals {
 public:
  DeferredSignals() {
    arrived_signal = 0;
    struct sigaction note{};
    note.sa_handler = [](int signal) { arrived_signal = signal; };
    note.sa_flags = SA_RESTART;
    for (size_t i = 0; i < kDeferredSignals.size(); ++i) {
      ::sigaction(kDeferredSignals.at(i), nullptr, &before_.at(i));
      if (before_.at(i).sa_handler != SIG_IGN) ::sigaction(kDeferredSignals.at(i), &note, nullptr);
    }
  }
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;
  ~DeferredSignals() {
    for (size_t i = 0; i < kDeferredSignals.size(); ++i)
      ::sigaction(kDeferredSignals.at(i), &before_.at(i), nullptr);
    if (has_arrived()) ::raise(arrived_signal);
  }

  [[nodiscard]] static bool has_arrived() { return arrived_signal != 0; }

 private:
  std::array<struct sigaction, kDeferredSignals.size()> before_{};
};

/// "PATH:0xOFFSET(0xCOUNTER)"; a path may contain colons.
bool parse_user_place(std::string_view text, ProbePlace& place) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view numbers = text.substr(colon + 1);
  if (size_t open = numbers.find('('); open != std::string_view::npos) {
    std::string_view counter = numbers.substr(open + 1);
    std::optional<uint64_t> semaphore = parse_hex(counter.substr(0, counter.find(')')));
    if (!semaphore) return false;
    place.semaphore = FileOffset(*semaphore);
    numbers = numbers.substr(0, open);
  }
  std::optional<uint64_t> offset = parse_hex(numbers);
  if (!offset) return false;
  place.object = text.substr(0, colon);
  place.offset = FileOffset(*offset);
  return true;
}

std::string removal_of(const TracepointName& event) {
  return fmt::format("-:{}/{}\n", event.system, event.name);
}

}  // namespace

Result<ListedProbe> parse_listed_probe(std::string_view line) {
  ListedProbe probe;
  probe.definition = line;
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, std::string_view());
  size_t colon = words.empty() ? std::string_view::npos : words[0].find(':');
  size_t slash = colon == std::string_view::npos ? colon : words[0].find('/', colon);
  bool is_probe = line.starts_with('p') || line.starts_with('r');
  if (!is_probe || words.size() < 2 || slash == std::string_view::npos)
    return fail(ErrorCode::kCorrupt, "not the definition of a probe: '{}'", line);
  probe.event.system = words[0].substr(colon + 1, slash - colon - 1);
  probe.event.name = words[0].substr(slash + 1);
  probe.place.at_return = line.starts_with('r');
  // Only a user probe's place is a path.
  if (!words[1].starts_with('/') || !parse_user_place(words[1], probe.place))
    probe.place.symbol = words[1];
  for (size_t i = 2; i < words.size(); ++i) probe.place.arguments.emplace_back(words[i]);
  return probe;
}

std::string argument_name(std::string_view argument, size_t index) {
  size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return fmt::format("arg{}", index + 1);
  return std::string(argument.substr(0, equals));
}

bool selects(const NameFilter& filter, const TracepointName& event) {
  return filter.matches(event.name) ||
         filter.matches(fmt::format("{}:{}", event.system, event.name));
}

Result<> ProbeEvents::check_mounted() const {
  if (!tracefs_.empty()) return {};
  return fail(ErrorCode::kUnsupported,
              "tracefs is not mounted, probes are made there: mount -t tracefs nodev "
              "/sys/kernel/tracing");
}

Result<std::vector<ListedProbe>> ProbeEvents::all() const {
  TRY(check_mounted());
  std::vector<ListedProbe> found;
  for (bool in_kernel : {false, true}) {
    std::string path = definition_file(tracefs_, in_kernel);
    errno = 0;
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) continue;  // not in this kernel
    if (::access(path.c_str(), R_OK) != 0)
      return fail(ErrorCode::kPermission,
                  "cannot read {}: {}: try sudo, or mount -o "
                  "remount,mode=755 {}",
                  path, std::strerror(errno), tracefs_);
    std::string text = TRY(read_file(path));
    for (std::string_view line : split(text, '\n'))
      if (Result<ListedProbe> probe = parse_listed_probe(line)) found.push_back(std::move(*probe));
  }
  std::ranges::stable_sort(found, {}, [](const ListedProbe& probe) {
    return std::tie(probe.event.system, probe.event.name);
  });
  return found;
}

Result<std::vector<TracepointName>> ProbeEvents::names() const {
  std::vector<TracepointName> names;
  for (const ListedProbe& probe : TRY(all())) names.push_back(probe.event);
  return names;
}

Result<> ProbeEvents::add(const std::vector<NamedProbe>& probes, int namespace_pid) const {
  TRY(check_mounted());
  for (const NamedProbe& probe : probes)
    TRY(check_definition(probe.event.system, probe.event.name, probe.place));
  DeferredSignals signals;
  Result<> result;
  size_t made = 0;
  for (; made < probes.size() && result; ++made) {
    const NamedProbe& probe = probes[made];
    std::string definition = probe_definition(probe.event.system, probe.event.name, probe.place);
    int error =
        append_definition_in(probe.place.in_kernel() ? 0 : namespace_pid,
                             definition_file(tracefs_, probe.place.in_kernel()), definition + "\n");
    if (error != 0) {
      result = std::unexpected(definition_refused(tracefs_, probe.place, definition, error));
      break;
    }
    if (DeferredSignals::has_arrived())
      result = fail(ErrorCode::kFailed, "interrupted: no probe was made");
  }
  if (!result) undo({probes.begin(), probes.begin() + static_cast<std::ptrdiff_t>(made)});
  return result;
}

void ProbeEvents::undo(const std::vector<NamedProbe>& probes) const {
  for (const NamedProbe& probe : probes)
    (void)append_definition(definition_file(tracefs_, probe.place.in_kernel()),
                            removal_of(probe.event));
}

Result<std::vector<TracepointName>> ProbeEvents::remove(const NameFilter& filter,
                                                        const IsMeant& is_meant) const {
  std::vector<TracepointName> removed;
  for (const ListedProbe& probe : TRY(all())) {
    if (!selects(filter, probe.event) || !is_meant(probe.place) ||
        (!removed.empty() && removed.back() == probe.event))
      continue;
    std::string path = definition_file(tracefs_, probe.place.in_kernel());
    int error = append_definition(path, removal_of(probe.event));
    std::string name = fmt::format("{}:{}", probe.event.system, probe.event.name);
    if (error == EBUSY)
      return fail(ErrorCode::kFailed, "{} is in use: end what records it, then remove it", name);
    if (error == EACCES || error == EPERM)
      return fail(ErrorCode::kPermission, "cannot remove {}: {} must be writable: try sudo", name,
                  path);
    if (error != 0)
      return fail(ErrorCode::kFailed, "cannot remove {}: {}: {}", name, path, std::strerror(error));
    removed.push_back(probe.event);
  }
  return removed;
}

}  // namespace sonde
