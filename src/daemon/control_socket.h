// The control socket of a daemon, from both ends. Its path may be longer than a socket's address:
// it is reached through its directory.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "daemon/paths.h"
#include "daemon/request.h"

namespace sonde {

class ControlSocket {
 public:
  /// Replaces the socket that a dead daemon left. The caller has the lock. Only the same user can
  /// connect; perf's daemon lets everyone.
  static Result<ControlSocket> listen(const DaemonPaths& paths);
  ControlSocket(ControlSocket&&) = default;
  ~ControlSocket();

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// A request and the connection that its answer goes to.
  struct Call {
    DaemonRequest request;
    Fd connection;
  };
  /// Takes the connection that waits. Nothing if its request is damaged or does not come within a
  /// second.
  [[nodiscard]] std::optional<Call> accept() const;

 private:
  ControlSocket(Fd fd, DaemonPaths paths) : fd_(std::move(fd)), paths_(std::move(paths)) {}
  Fd fd_;
  DaemonPaths paths_;
};

/// Best effort: a client that does not read within a second gets no more.
void send_answer(const Fd& connection, std::string_view text);

/// Sends the request and returns the connection, from which the answer can be read to its end.
/// Fails (kNotFound) if no daemon runs on this directory.
Result<Fd> call_daemon(const DaemonPaths& paths, const DaemonRequest& request);

}  // namespace sonde
