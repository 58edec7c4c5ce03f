// User parts of call chains that come in separate records (Linux 6.19, attr.defer_callchain).
//
// A sample taken in the kernel then ends its chain with the marker "user, deferred" and a cookie.
// When the thread returns to user space the kernel walks its stack once, with page faults allowed,
// and writes one PERF_RECORD_CALLCHAIN_DEFERRED { cookie; nr; ips[nr] } for all samples with that
// cookie.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/passes/sideband_pass.h"

namespace sonde {

/// The cookie at the end of a sample's chain; nothing if its user part is not deferred.
[[nodiscard]] std::optional<uint64_t> deferred_cookie(const WordView& chain);

class DeferredChains {
 public:
  DeferredChains() = default;
  /// Collects those among a recording's other records; damaged ones are losses.
  DeferredChains(const SidebandResult& sideband, const EventTable& events, LossLedger& losses);

  /// The user part of a sample of thread `tid` at `time`; null if it never came.
  [[nodiscard]] const WordView* find(uint32_t tid, uint64_t cookie, uint64_t time) const;

 private:
  struct Chain {
    uint64_t cookie;
    uint32_t tid;  // UINT32_MAX: the record doesn't say
    uint64_t time;
    WordView ips;
  };
  std::vector<Chain> chains_;  // by cookie, thread, time
};

}  // namespace sonde
