// Wake: how another thread tells the loop of a browser that something has come.
#pragma once

#include "base/file.h"

namespace sonde::tui {

class Wake {
 public:
  Wake();
  /// Readable after ring(), until clear().
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// From any thread.
  void ring() const;
  void clear() const;

 private:
  Fd fd_;
};

}  // namespace sonde::tui
