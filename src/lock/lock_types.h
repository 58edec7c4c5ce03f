// Types of kernel locks, as encoded in contention_begin's flags: LCB_F_* of
// include/trace/events/lock.h.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// "spinlock", "rwsem:R" …; "unknown" for flags of no known lock.
[[nodiscard]] std::string_view lock_type_name(uint32_t flags);

/// Selects locks by their flags.
class LockTypeFilter {
 public:
  /// Adds types by name: "mutex,rwsem". Names with reader and writer variants (rwlock, rwsem,
  /// rwlock-rt, pcpu-sem) may omit `:R` or `:W`, and mean both. Fails with kUsage on an unknown
  /// name.
  Result<> add(std::string_view names);
  [[nodiscard]] bool passes(uint32_t flags) const;
  [[nodiscard]] bool is_empty() const { return flags_.empty(); }
  [[nodiscard]] const std::set<uint32_t>& flags() const { return flags_; }

 private:
  std::set<uint32_t> flags_;
};

/// LCB_F_*; for tests and programs.
inline constexpr uint32_t kLockSpin = 1, kLockRead = 2, kLockWrite = 4, kLockRt = 8,
                          kLockPerCpu = 16, kLockMutex = 32;

}  // namespace sonde
