// AuxtraceInfoRecord::type of tracers whose traces are not of every instruction.
#pragma once

#include <cstdint>

namespace sonde {

inline constexpr uint32_t kAuxtraceArmSpe = 4;

}  // namespace sonde
