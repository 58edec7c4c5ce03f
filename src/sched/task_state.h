// Task states as given in sched_switch's prev_state.
//
// The low bits are TASK_* of include/linux/sched.h; 0 is a runnable task. Since Linux 4.14 bit 8
// marks one that was preempted, whatever its state; before, other bits did. None of the bits from
// there on means that a task waits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace sonde {

inline constexpr uint64_t kTaskStateMask = 0xff;
inline constexpr uint64_t kTaskUninterruptible = 2;

/// Whether a task was preempted while runnable.
[[nodiscard]] constexpr bool is_runnable(uint64_t prev_state) {
  return (prev_state & kTaskStateMask) == 0;
}

/// The letter of a state: that of its lowest bit, as in the kernel's print format.
[[nodiscard]] constexpr char state_letter(uint64_t prev_state) {
  constexpr std::string_view kLetters = "SDTtXZPI";
  if (is_runnable(prev_state)) return 'R';
  return kLetters[static_cast<size_t>(std::countr_zero(prev_state & kTaskStateMask))];
}

}  // namespace sonde
