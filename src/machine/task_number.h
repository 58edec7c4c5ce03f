// Numbers of processes and threads, where a recording holds those of several machines.
//
// A guest numbers its tasks as its host does: 4711 may be a task of each. While a recording is
// replayed, a guest's tasks have numbers that no task of the host can have, so that whatever is
// kept by process or thread keeps them apart; the host's are those of the records. Only what is
// shown to a user, or chosen by one, needs `recorded_task`.
//
//   31 30 | 29 … 22         | 21 … 0
//   1  0  | index of guest  | as recorded
//
// The kernel gives no task a number from 2^22 on (PID_MAX_LIMIT, linux/threads.h); "none" is
// UINT32_MAX, and the same for all.
#pragma once

#include <cstdint>

namespace sonde {

constexpr uint32_t kTaskLimit = uint32_t{1} << 22;

constexpr bool is_guest_task(uint32_t number) {
  return number >> 30 == 2;
}
/// The number of a guest's task; UINT32_MAX if it has none, or one that no kernel gives.
constexpr uint32_t guest_task(uint32_t guest, uint32_t recorded) {
  return recorded < kTaskLimit ? (uint32_t{2} << 30) | (guest << 22) | recorded : UINT32_MAX;
}
/// The index of a task's guest: is_guest_task(number).
constexpr uint32_t guest_of_task(uint32_t number) {
  return (number >> 22) & 0xff;
}
/// As its machine numbers it.
constexpr uint32_t recorded_task(uint32_t number) {
  return is_guest_task(number) ? number % kTaskLimit : number;
}

}  // namespace sonde
