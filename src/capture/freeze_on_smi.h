// FreezeOnSmi: while it lives, the CPUs' cycle counters stand still in system management mode, so
// that what the firmware takes shows as the difference from counters that don't (stat --smi-cost).
// The setting is the machine's; what it was before comes back at the end.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace sonde {

class FreezeOnSmi {
 public:
  static constexpr const char* kSetting = "/sys/devices/cpu/freeze_on_smi";

  /// Errors: the machine hasn't the setting, or it may not be changed.
  static Result<FreezeOnSmi> set(const std::string& setting = kSetting);
  FreezeOnSmi(FreezeOnSmi&& other) noexcept : restore_(std::exchange(other.restore_, {})) {}
  FreezeOnSmi& operator=(FreezeOnSmi&&) = delete;
  ~FreezeOnSmi();

 private:
  explicit FreezeOnSmi(std::string restore) : restore_(std::move(restore)) {}
  std::string restore_;  // the file into which a 0 goes at the end; empty: it was on before
};

}  // namespace sonde
