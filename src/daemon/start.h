// From the command line to a running daemon.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "daemon/paths.h"
#include "daemon/request.h"

namespace sonde {

struct DaemonOptions {
  std::vector<std::string> config_files;
  std::string base;  // "" for the one in the configuration
  bool foreground = false;
  bool verbose = false;  // says which files and directory it uses
};

/// The base directory, absolute: the one given, or else the configuration's. Fails if there is
/// neither or it does not exist.
Result<DaemonPaths> daemon_paths(const DaemonOptions& options);

/// Starts a daemon in the background, and returns once its sessions record; or runs it in the
/// foreground until it ends. Lines about sessions that failed go to `env.err`. In the process that
/// becomes the daemon, it returns when that ends.
Result<int> start_daemon(const DaemonOptions& options, Env& env);

/// Passes the request to the daemon and its answer to `env.out`. The status is 1 if a session does
/// not answer a ping.
Result<int> ask_daemon(const DaemonOptions& options, const DaemonRequest& request, Env& env);

}  // namespace sonde
