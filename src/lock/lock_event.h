// One event of a kernel lock, extracted from a sample of one of the lock tracepoints
// (include/trace/events/lock.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hashing/digest.h"

namespace sonde {

enum class LockEventKind : uint8_t {
  kOther,            // a sample of any other event: never delivered
  kContentionBegin,  // contention_begin: a thread starts to wait
  kContentionEnd,    // contention_end: it has the lock, or gave up
  // On kernels with CONFIG_LOCKDEP (the middle two: CONFIG_LOCK_STAT): see lockdep_stats.h.
  kAcquire,
  kContended,
  kAcquired,
  kRelease,
};

struct LockEvent {
  uint64_t time = 0;                  // ns
  const std::byte* record = nullptr;  // its header
  uint64_t lock = 0;                  // its address
  Digest chain = {};                  // contention: of the call chain
  uint32_t tid = 0;
  uint32_t flags = 0;  // begin: LCB_F_*; acquire: 1 try, 2 read
  uint16_t event = 0;  // index of the recording's event
  LockEventKind kind = LockEventKind::kOther;
};

[[nodiscard]] constexpr bool is_lockdep(LockEventKind kind) {
  return kind >= LockEventKind::kAcquire;
}

}  // namespace sonde
