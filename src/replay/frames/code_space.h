// In which address space code runs: a process's, its kernel's, or that of a guest.
#pragma once

#include "machine/machine.h"
#include "replay/frames/frame_table.h"

namespace sonde {

/// The address space that code of this mode has, in process `pid`, in its kernel, or in the virtual
/// machine that it runs; `pid` may be a guest's (machine/task_number.h). Invalid if it is not
/// known.
[[nodiscard]] SpaceId space_of(const Machine& machine, uint32_t pid, uint64_t time,
                               uint16_t cpu_mode);
/// The same for the code of a frame.
[[nodiscard]] SpaceId space_of(const Machine& machine, uint32_t pid, uint64_t time,
                               FrameLevel level);

}  // namespace sonde
