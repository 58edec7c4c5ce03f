// Options of `mem record` and `c2c record`: which events sample memory accesses.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "cli/flags.h"
#include "event/pmu/memory_events.h"

namespace sonde {

class MemoryEventFlags {
 public:
  struct Letters {
    char all_kernel, all_user, load_latency;
  };
  void declare(FlagTable& flags, Letters letters);
  /// -e list: names what the machine has.
  [[nodiscard]] bool list_wanted() const { return list_wanted_; }
  [[nodiscard]] Result<int> list(Env& env) const;
  /// Adds record's words for the chosen events, or for those that cover the operations.
  [[nodiscard]] Result<> append_words(MemoryOperations operations,
                                      std::vector<std::string>& words) const;

 private:
  std::vector<std::string> chosen_;  // -e
  unsigned load_latency_ = 30;       // cycles
  bool all_kernel_ = false, all_user_ = false, list_wanted_ = false;
};

}  // namespace sonde
