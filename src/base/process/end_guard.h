// EndGuard: a separate process that waits for this one to end, for whatever reason, including
// SIGKILL, and then does what must not be left undone.
//
//   EndGuard guard = TRY(EndGuard::start("sonde-probes", [=] { … undo our changes … }));
//   … change something on the machine …
//   guard.dismiss();              // undone in time: nothing is left to do
//
// It is nobody's child, ignores signals, and holds none of our descriptors. The work sees the state
// of this process at `start`.
#pragma once

#include <functional>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class EndGuard {
 public:
  EndGuard() = default;
  /// `name`: what `ps` shows, at most 15 characters. Fails with kIo if no process can be started.
  static Result<EndGuard> start(const char* name, const std::function<void()>& work);

  [[nodiscard]] bool started() const { return word_.valid(); }
  /// The guard ends without doing anything. Otherwise it does its work when the object is
  /// destroyed.
  void dismiss();

 private:
  explicit EndGuard(Fd word) : word_(std::move(word)) {}
  Fd word_;  // its closing signals our end
};

}  // namespace sonde
