#include "replay/frames/code_space.h"

namespace sonde {

SpaceId space_of(const Machine& machine, uint32_t pid, uint64_t time, uint16_t cpu_mode) {
  bool is_guests = is_guest_task(pid);
  switch (cpu_mode) {
    case abi::kMiscKernel:
      return machine.kernel_space_of(pid);
    case abi::kMiscGuestKernel:
      return is_guests ? machine.kernel_space_of(pid) : machine.guest_kernel_space(pid);
    case abi::kMiscUser:
      return machine.space_at(pid, time).space;
    case abi::kMiscGuestUser:
      if (is_guests || machine.has_guest_code()) return machine.space_at(pid, time).space;
      return {};
    default:
      return {};
  }
}

SpaceId space_of(const Machine& machine, uint32_t pid, uint64_t time, FrameLevel level) {
  switch (level) {
    case FrameLevel::kKernel:
      return space_of(machine, pid, time, abi::kMiscKernel);
    case FrameLevel::kGuestKernel:
      return space_of(machine, pid, time, abi::kMiscGuestKernel);
    case FrameLevel::kGuestUser:
      return space_of(machine, pid, time, abi::kMiscGuestUser);
    default:
      return space_of(machine, pid, time, abi::kMiscUser);
  }
}

}  // namespace sonde
