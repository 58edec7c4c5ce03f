// Call chains as the kernel writes them: addresses, leaf first, interleaved with context markers
// that give the mode of the addresses that follow.
//
//   for_each_address(sample.callchain, [&](uint64_t ip, uint16_t cpu_mode) { … });
#pragma once

#include <cstdint>

#include "abi/perf_event.h"
#include "perfdata/records/sample.h"

namespace sonde {

/// Calls `visit(ip, cpu_mode)` for every address of the chain; cpu_mode is a RecordMisc mode.
/// Returns false at an unknown marker: the rest of the chain cannot be trusted and is left out
/// (loss: bad_call_chain).
template <typename Visit>
bool for_each_address(const WordView& chain, const Visit& visit) {
  uint16_t mode = abi::kMiscUser;
  for (size_t i = 0; i < chain.size(); ++i) {
    uint64_t ip = chain[i];
    if (!abi::is_callchain_context(ip)) {
      visit(ip, mode);
      continue;
    }
    switch (ip) {
      case abi::kContextHv:
        mode = abi::kMiscHypervisor;
        break;
      case abi::kContextKernel:
        mode = abi::kMiscKernel;
        break;
      case abi::kContextUser:
        mode = abi::kMiscUser;
        break;
      case abi::kContextUserDeferred:
        return true;  // a cookie follows: the user part comes in a separate record
      case abi::kContextGuest:
      case abi::kContextGuestKernel:
        mode = abi::kMiscGuestKernel;
        break;
      case abi::kContextGuestUser:
        mode = abi::kMiscGuestUser;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace sonde
