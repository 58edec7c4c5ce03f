// Wake: lets another thread tell a browser's main loop that something has arrived.
#pragma once

#include "base/file.h"

namespace sonde::tui {

class Wake {
 public:
  Wake();
  /// Readable after ring(), until clear().
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Thread-safe.
  void ring() const;
  void clear() const;

 private:
  Fd fd_;
};

}  // namespace sonde::tui
