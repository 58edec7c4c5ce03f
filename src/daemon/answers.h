// What a daemon answers, as perf's does.
#pragma once

#include <span>
#include <string>

#include "daemon/paths.h"
#include "daemon/record_session.h"
#include "daemon/request.h"

namespace sonde {

/// A session as it is listed.
struct ListedSession {
  pid_t pid = 0;
  std::string name;
  std::string run;
  SessionPaths paths;
  long minutes_up = 0;
};

struct ListedDaemon {
  pid_t pid = 0;
  DaemonPaths paths;
  long minutes_up = 0;
  std::string tool;  // "sonde": what the lines of the sessions begin with
};

/// One line each; several with `verbose`; all fields, separated, if there is a separator.
std::string list_answer(const ListedDaemon& daemon, std::span<const ListedSession> sessions,
                        const DaemonRequest& request);

}  // namespace sonde
