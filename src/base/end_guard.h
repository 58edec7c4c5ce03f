// EndGuard: a process of its own that waits for the end of this one, by whatever cause, SIGKILL
// too, and then does what must not be left undone.
//
//   EndGuard guard = TRY(EndGuard::start("sonde-probes", [=] { … put back what we changed … }));
//   … change something of the machine …
//   guard.dismiss();              // put back in time: nothing is left to do
//
// It is nobody's child to wait for, ignores signals, and holds none of our descriptors. What the
// work looks at is the state of this process at `start`.
#pragma once

#include <functional>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class EndGuard {
 public:
  EndGuard() = default;
  /// `name`: what `ps` shows, at most 15 characters. Errors: kIo where no process can be started.
  static Result<EndGuard> start(const char* name, const std::function<void()>& work);

  [[nodiscard]] bool started() const { return word_.valid(); }
  /// It ends without doing anything. Without this it does its work when the object goes.
  void dismiss();

 private:
  explicit EndGuard(Fd word) : word_(std::move(word)) {}
  Fd word_;  // its closing tells of our end
};

}  // namespace sonde
