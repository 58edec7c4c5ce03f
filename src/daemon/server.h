// DaemonServer: the daemon once it has its lock. It starts the configured sessions, answers
// requests, follows changes of the configuration, and ends its sessions before it ends.
//
// A session that ends is not started again until the configuration is next written, as with perf:
// a recording that fails at once would fail again and again.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "base/sink.h"
#include "daemon/config_watch.h"
#include "daemon/control_socket.h"
#include "daemon/record_session.h"

namespace sonde {

class DaemonServer {
 public:
  struct Options {
    DaemonPaths paths;
    std::vector<std::string> config_files;  // absolute
    std::string tool;                       // "sonde" or "perf"
  };

  /// Binds the socket and takes SIGCHLD, SIGTERM, SIGINT and SIGHUP for itself. `log` outlives it.
  static Result<DaemonServer> open(Options options, Sink& log);

  /// Starts the sessions, and waits, for two seconds at most, until they record. Returns a line for
  /// each that failed by then.
  std::vector<std::string> start_sessions(const DaemonConfig& config);
  /// Until a request or a signal ends it; all sessions have ended then.
  void serve();

 private:
  DaemonServer(Options options, Sink& log, ControlSocket socket, ConfigWatch watch, Fd signals)
      : options_(std::move(options)),
        log_(log),
        socket_(std::move(socket)),
        watch_(std::move(watch)),
        signals_(std::move(signals)) {}

  template <typename... Args>
  void log(fmt::format_string<Args...> format, Args&&... args) {
    log_line(fmt::format(format, std::forward<Args>(args)...));
  }
  void log_line(const std::string& text);

  void start(const DaemonSession& wanted);
  void reconfigure();
  void answer(ControlSocket::Call call);
  std::string listing(const DaemonRequest& request) const;
  std::string pinged(const DaemonRequest& request) const;
  std::string signalled(const DaemonRequest& request) const;
  void wait_for_signals(std::chrono::milliseconds patience);
  void reap(std::list<RecordSession>& sessions);
  void end(std::list<RecordSession> sessions);

  Options options_;
  Sink& log_;
  ControlSocket socket_;
  ConfigWatch watch_;
  Fd signals_;
  std::list<RecordSession> sessions_;
  std::vector<std::string> ended_;  // a line for each that has ended
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  bool ending_ = false;
  Fd stopper_;  // the connection of the client that waits for the end
};

}  // namespace sonde
