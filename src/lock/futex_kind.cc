#include "lock/futex_kind.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"

namespace sonde {
namespace {

using enum FutexKind;

constexpr std::array<std::string_view, 9> kNames = {"futex",   "mutex", "pi-mutex", "rwlock", "sem",
                                                    "barrier", "once",  "cond",     "join"};

struct Naming {
  std::string_view part;
  FutexKind kind;
};

/// Functions whose names say what they wait for: glibc, musl, libstdc++, Rust's std. Substrings;
/// the first match wins.
constexpr auto kSaying = std::to_array<Naming>({
    {"pthread_cond_", kCondition},
    {"cnd_wait", kCondition},
    {"cnd_timedwait", kCondition},
    {"condition_variable", kCondition},
    {"condvar", kCondition},
    {"Condvar", kCondition},
    {"lll_lock_wait", kMutex},
    {"lll_mutex_lock", kMutex},
    {"pthread_mutex_", kMutex},
    {"mtx_lock", kMutex},
    {"mtx_timedlock", kMutex},
    {"std::mutex::", kMutex},
    {"std::timed_mutex::", kMutex},
    {"std::recursive_mutex::", kMutex},
    {"sync::mutex::", kMutex},
    {"pthread_rwlock_", kRwLock},
    {"std::shared_mutex::", kRwLock},
    {"sync::rwlock::", kRwLock},
    {"new_sem_wait", kSemaphore},
    {"sem_wait", kSemaphore},
    {"sem_timedwait", kSemaphore},
    {"sem_clockwait", kSemaphore},
    {"pthread_barrier_wait", kBarrier},
    {"pthread_once", kOnce},
    {"sync::once::", kOnce},
    {"call_once", kOnce},
    {"pthread_join", kJoin},
    {"pthread_timedjoin", kJoin},
    {"pthread_clockjoin", kJoin},
    {"thrd_join", kJoin},
    {"std::thread::join", kJoin},
    {"JoinHandle", kJoin},
});

/// Functions that wait or lock on behalf of others, and whose names don't say for what.
constexpr auto kBetween = std::to_array<std::string_view>({
    "futex",
    "syscall",
    "__timedwait",
    "timed_wait",
    "std::unique_lock<",
    "std::lock_guard<",
    "std::scoped_lock<",
    "std::shared_lock<",
    "std::lock",
    "__gthread_",
    "lll_",
    "cancel_async",
});

std::optional<FutexKind> said_by(std::string_view function) {
  auto found = std::ranges::find_if(
      kSaying, [&](const Naming& naming) { return function.contains(naming.part); });
  return found == kSaying.end() ? std::nullopt : std::optional(found->kind);
}

bool is_between(std::string_view function) {
  return std::ranges::any_of(kBetween,
                             [&](std::string_view part) { return function.contains(part); });
}

}  // namespace

std::string_view futex_kind_name(FutexKind kind) {
  return kNames.at(static_cast<size_t>(kind));
}

Result<> FutexKindFilter::add(std::string_view names) {
  for (std::string_view name : split(names, ',')) {
    auto found = std::ranges::find(kNames, name);
    if (found == kNames.end())
      return fail(ErrorCode::kUsage,
                  "Error: no futex is of the type '{}'; types are: futex, mutex, pi-mutex, rwlock, "
                  "sem, barrier, once, cond, join",
                  name);
    kinds_.insert(static_cast<FutexKind>(found - kNames.begin()));
  }
  return {};
}

bool is_futex_wait(uint32_t operation) {
  constexpr std::array kWaits{kFutexWait, kFutexLockPi, kFutexWaitBitset, kFutexWaitRequeuePi,
                              kFutexLockPi2};
  return std::ranges::find(kWaits, operation) != kWaits.end();
}

FutexCaller find_futex_caller(uint32_t operation, const FutexFunctionAt& function_at) {
  // Only the innermost frames: further out, such names are coincidences.
  constexpr size_t kFrames = 8;
  FutexCaller caller;
  bool is_said = operation == kFutexLockPi || operation == kFutexLockPi2;
  if (is_said) caller.kind = kPiMutex;
  for (size_t i = 0; i < kFrames; ++i) {
    auto function = function_at(i);
    if (!function) break;
    std::optional<FutexKind> kind = said_by(*function);
    if (kind && !is_said) caller.kind = *kind;
    is_said |= kind.has_value();
    // Frames of a library without symbols come before its exported function: pthread_mutex_lock.
    bool is_locking = kind || is_between(*function);
    if (is_locking)
      caller.frame = i + 1;
    else if (!function->empty() || caller.frame > 0)
      break;
  }
  // Everything is locking: then the outermost is as good as any.
  if (!function_at(caller.frame) && caller.frame > 0) --caller.frame;
  return caller;
}

}  // namespace sonde
