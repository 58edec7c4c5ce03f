#include "replay/frames/deferred_chains.h"

#include <algorithm>
#include <tuple>

#include "perfdata/records/damage.h"

namespace sonde {

std::optional<uint64_t> deferred_cookie(const WordView& chain) {
  size_t count = chain.size();
  if (count < 2 || chain[count - 2] != abi::kContextUserDeferred) return std::nullopt;
  return chain[count - 1];
}

DeferredChains::DeferredChains(const SidebandResult& sideband, const EventTable& events,
                               LossLedger& losses) {
  SampleLayout none;
  for (const OtherRecord& other : sideband.others) {
    if (other.view.type != abi::kRecordCallchainDeferred) continue;
    const SampleLayout& layout = other.event.valid() ? events[other.event].layout : none;
    auto record = decode_as<CallchainDeferredRecord>(other.view, layout);
    if (!record) {
      add_damaged(other.view, kShortRecord, losses);
      continue;
    }
    SampleId id = decode_trailing_id(other.view, layout);
    chains_.push_back({record->cookie, id.tid, other.time, record->ips});
  }
  std::ranges::stable_sort(chains_, {}, [](const Chain& chain) {
    return std::tuple(chain.cookie, chain.tid, chain.time);
  });
}

/// A cookie identifies one entry into the kernel; should it be reused, the right record is the
/// first one written after the sample.
const WordView* DeferredChains::find(uint32_t tid, uint64_t cookie, uint64_t time) const {
  for (uint32_t of : {tid, UINT32_MAX}) {
    auto found = std::ranges::lower_bound(
        chains_, std::tuple(cookie, of, time), {},
        [](const Chain& chain) { return std::tuple(chain.cookie, chain.tid, chain.time); });
    if (found != chains_.end() && found->cookie == cookie && found->tid == of) return &found->ips;
  }
  return nullptr;
}

}  // namespace sonde
