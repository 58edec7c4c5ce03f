// FutexWord: futex(2) on a word of this process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace sonde {

class FutexWord {
 public:
  std::atomic<uint32_t> value = 0;

  // `flags`: 0 for a word that processes may share, FUTEX_PRIVATE_FLAG. Each returns the system
  // call's result; -1 with errno.
  long wait(int flags, uint32_t expected) { return call(FUTEX_WAIT | flags, expected); }
  long wake(int flags, uint32_t count) { return call(FUTEX_WAKE | flags, count); }
  long lock_pi(int flags) { return call(FUTEX_LOCK_PI | flags, 0); }
  long unlock_pi(int flags) { return call(FUTEX_UNLOCK_PI | flags, 0); }
  /// Wakes `woken` waiters and moves up to `moved` others to `to`.
  long requeue(int flags, FutexWord& to, uint32_t expected, uint32_t woken, uint64_t moved) {
    return call(FUTEX_CMP_REQUEUE | flags, woken, moved, &to, expected);
  }
  long requeue_pi(int flags, FutexWord& to, uint32_t expected, uint64_t moved) {
    return call(FUTEX_CMP_REQUEUE_PI | flags, 1, moved, &to, expected);
  }
  long wait_requeue_pi(int flags, uint32_t expected, FutexWord& to) {
    return call(FUTEX_WAIT_REQUEUE_PI | flags, expected, 0, &to);
  }

 private:
  long call(int operation, uint32_t number, uint64_t fourth = 0, FutexWord* other = nullptr,
            uint32_t sixth = 0) {
    return ::syscall(SYS_futex, &value, operation, number, fourth, other ? &other->value : nullptr,
                     sixth);
  }
};
static_assert(sizeof(FutexWord) == sizeof(uint32_t));

}  // namespace sonde
