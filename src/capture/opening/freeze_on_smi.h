// FreezeOnSmi: while it exists, the CPUs' cycle counters stop in system management mode, so that
// the time the firmware takes shows as the difference from counters that don't (stat --smi-cost).
// The setting is machine-wide; its previous value is restored at the end.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace sonde {

class FreezeOnSmi {
 public:
  static constexpr const char* kSetting = "/sys/devices/cpu/freeze_on_smi";

  /// Errors: the machine does not have the setting, or it may not be changed.
  static Result<FreezeOnSmi> set(const std::string& setting = kSetting);
  FreezeOnSmi(FreezeOnSmi&& other) noexcept : restore_(std::exchange(other.restore_, {})) {}
  FreezeOnSmi& operator=(FreezeOnSmi&&) = delete;
  ~FreezeOnSmi();

 private:
  explicit FreezeOnSmi(std::string restore) : restore_(std::move(restore)) {}
  std::string restore_;  // the file to write a 0 to at the end; empty: it was already on
};

}  // namespace sonde
