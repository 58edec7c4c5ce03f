#include "daemon/answers.h"

#include "base/text.h"

namespace sonde {
namespace {

std::string separated(const std::vector<std::string>& fields, char separator) {
  return join(fields, {&separator, 1}) + "\n";
}

std::string daemon_lines(const ListedDaemon& daemon, const DaemonRequest& request) {
  const DaemonPaths& paths = daemon.paths;
  if (request.separator != 0)
    return separated({std::to_string(daemon.pid), "daemon", paths.base, paths.output(),
                      paths.lock(), std::to_string(daemon.minutes_up)},
                     request.separator);
  std::string text = fmt::format("[{}:daemon] base: {}\n", daemon.pid, paths.base);
  if (request.verbose)
    text += fmt::format("  output:  {}\n  lock:    {}\n  up:      {} minutes\n", paths.output(),
                        paths.lock(), daemon.minutes_up);
  return text;
}

std::string session_lines(const ListedSession& session, std::string_view tool,
                          const DaemonRequest& request) {
  const SessionPaths& paths = session.paths;
  if (request.separator != 0)
    return separated(
        {std::to_string(session.pid), session.name, session.run, paths.base, paths.output(),
         paths.control(), paths.ack(), std::to_string(session.minutes_up)},
        request.separator);
  std::string text =
      fmt::format("[{}:{}] {} record {}\n", session.pid, session.name, tool, session.run);
  if (request.verbose)
    text += fmt::format(
        "  base:    {}\n  output:  {}\n  control: {}\n  ack:     {}\n  up:      {} minutes\n",
        paths.base, paths.output(), paths.control(), paths.ack(), session.minutes_up);
  return text;
}

}  // namespace

std::string list_answer(const ListedDaemon& daemon, std::span<const ListedSession> sessions,
                        const DaemonRequest& request) {
  std::string text = daemon_lines(daemon, request);
  for (const ListedSession& session : sessions)
    text += session_lines(session, daemon.tool, request);
  return text;
}

}  // namespace sonde
