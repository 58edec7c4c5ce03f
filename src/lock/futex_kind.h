// What a thread waits for in futex(2), and on whose behalf: names of the functions of the C library
// and of language runtimes through which programs take locks.
//
//   0 __lll_lock_wait        the futex's own: says mutex
//   1 pthread_mutex_lock     the same
//   2 std::mutex::lock       on behalf of others, too
//   3 Queue::push       ←    the caller
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"

namespace sonde {

enum class FutexKind : uint8_t {
  kFutex,  // no name reveals the purpose
  kMutex,
  kPiMutex,  // handed over by the kernel: FUTEX_LOCK_PI
  kRwLock,
  kSemaphore,
  kBarrier,
  kOnce,
  // Not locks: the waiter wants something to happen.
  kCondition,
  kJoin,
};
/// "mutex", "cond" …
[[nodiscard]] std::string_view futex_kind_name(FutexKind kind);

/// Selects kinds, like LockTypeFilter.
class FutexKindFilter {
 public:
  /// "mutex,rwlock". Fails with kUsage on an unknown kind.
  Result<> add(std::string_view names);
  [[nodiscard]] bool passes(FutexKind kind) const {
    return kinds_.empty() || kinds_.contains(kind);
  }

 private:
  std::set<FutexKind> kinds_;
};

struct FutexCaller {
  FutexKind kind = FutexKind::kFutex;
  size_t frame = 0;  // of the function that wanted the lock, from the innermost one
};

/// `function_at(i)`: the function i frames out from the program's innermost one, empty if it has no
/// name; nullopt past the last one.
using FutexFunctionAt = std::function<std::optional<std::string_view>(size_t)>;
[[nodiscard]] FutexCaller find_futex_caller(uint32_t operation, const FutexFunctionAt& function_at);

/// FUTEX_* of include/uapi/linux/futex.h, without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
inline constexpr uint32_t kFutexWait = 0, kFutexLockPi = 6, kFutexWaitBitset = 9,
                          kFutexWaitRequeuePi = 11, kFutexLockPi2 = 13, kFutexOperationMask = 0x7f;
/// Whether a thread that does this may sleep.
[[nodiscard]] bool is_futex_wait(uint32_t operation);

}  // namespace sonde
