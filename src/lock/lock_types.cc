#include "lock/lock_types.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace sonde {
namespace {

struct LockType {
  uint32_t flags;
  std::string_view name;
};
constexpr std::array kTypes{
    LockType{0, "semaphore"},
    LockType{kLockSpin, "spinlock"},
    LockType{kLockSpin | kLockRead, "rwlock:R"},
    LockType{kLockSpin | kLockWrite, "rwlock:W"},
    LockType{kLockRead, "rwsem:R"},
    LockType{kLockWrite, "rwsem:W"},
    LockType{kLockRt, "rtmutex"},
    LockType{kLockRt | kLockRead, "rwlock-rt:R"},
    LockType{kLockRt | kLockWrite, "rwlock-rt:W"},
    LockType{kLockPerCpu | kLockRead, "pcpu-sem:R"},
    LockType{kLockPerCpu | kLockWrite, "pcpu-sem:W"},
    LockType{kLockMutex, "mutex"},
    LockType{kLockMutex | kLockSpin, "mutex"},
};

}  // namespace

std::string_view lock_type_name(uint32_t flags) {
  auto found = std::ranges::find(kTypes, flags, &LockType::flags);
  return found == kTypes.end() ? "unknown" : found->name;
}

Result<> LockTypeFilter::add(std::string_view names) {
  for (std::string_view name : split(names, ',')) {
    bool is_known = false;
    for (const LockType& type : kTypes) {
      if (type.name != name && type.name.substr(0, type.name.find(':')) != name) continue;
      flags_.insert(type.flags);
      is_known = true;
    }
    if (is_known) continue;
    std::vector<std::string_view> all;
    for (const LockType& type : kTypes)
      if (all.empty() || all.back() != type.name) all.push_back(type.name);
    return fail(ErrorCode::kUsage, "Error: no lock is of the type '{}'; types are: {}", name,
                fmt::join(all, ", "));
  }
  return {};
}

bool LockTypeFilter::passes(uint32_t flags) const {
  return flags_.empty() || flags_.contains(flags);
}

}  // namespace sonde
