// Which calls are selected: all, some, or all but some.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/sources/trace_event.h"

namespace sonde {

struct CallFilter {
  struct Call {
    SyscallAbi abi;
    uint32_t number;
    auto operator<=>(const Call&) const = default;
  };
  std::vector<Call> calls;  // sorted; the calls that were named
  bool all = true;          // no calls were named
  bool invert = false;      // all but those

  [[nodiscard]] bool has(SyscallAbi abi, uint32_t number) const {
    return all || std::ranges::binary_search(calls, Call{abi, number}) != invert;
  }
};

}  // namespace sonde
