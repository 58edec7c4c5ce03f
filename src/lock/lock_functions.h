// LockFunctions: which kernel addresses are functions of locks and of the scheduler, which wait for
// locks on behalf of others. The kernel's linker script puts them in their own sections
// (.spinlock.text, .sched.text), delimited by symbols.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sonde {

class LockFunctions {
 public:
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;  // begin, end
  LockFunctions() = default;
  /// For the kernel whose symbol list is at `kallsyms`; empty if there is none.
  explicit LockFunctions(const std::string& kallsyms);
  explicit LockFunctions(Ranges ranges) : ranges_(std::move(ranges)) {}

  [[nodiscard]] bool contains(uint64_t address) const {
    for (const auto& [begin, end] : ranges_)
      if (begin <= address && address < end) return true;
    return false;
  }

 private:
  Ranges ranges_;
};

}  // namespace sonde
