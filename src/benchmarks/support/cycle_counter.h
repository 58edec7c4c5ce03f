// CPU cycles of this thread, counted by the hardware.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/file.h"
#include "base/sys.h"

namespace sonde {

class CycleCounter {
 public:
  /// Errors: kUnsupported on machines whose cycles cannot be counted, kPermission.
  static Result<CycleCounter> open(Sys& sys);
  [[nodiscard]] uint64_t read() const;

 private:
  explicit CycleCounter(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace sonde
