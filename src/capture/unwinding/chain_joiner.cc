#include "capture/unwinding/chain_joiner.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "perfdata/records/record.h"
#include "perfdata/records/unwound_sample.h"

namespace sonde {
namespace {

/// Interrupts that may sample one another: one of each kind.
constexpr size_t kMostWaiting = 4;

void append(Bytes bytes, std::vector<std::byte>& to) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

void ChainEnds::add(uint32_t end, const walk_object_key& object) {
  if (end >= WALK_ENDS) return;
  ++by_reason[end];
  if (end != WALK_OUTERMOST) ++unfinished[object][end];
}

void ChainEnds::add(const ChainEnds& other) {
  auto add_to = [](ByReason& sums, const ByReason& more) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  };
  add_to(by_reason, other.by_reason);
  for (const auto& [object, counts] : other.unfinished) add_to(unfinished[object], counts);
}

uint64_t ChainEnds::all() const {
  return std::accumulate(by_reason.begin(), by_reason.end(), uint64_t{0});
}

ChainJoiner::ChainJoiner(const std::vector<EventDesc>& events, std::vector<bool> walked)
    : walked_(std::move(walked)) {
  for (const EventDesc& event : events) events_.add(event);
}

void ChainJoiner::add_ring(int cpu, uint64_t carrier_id, const SampleLayout& layout) {
  Ring& ring = rings_[cpu];
  ring.carrier_id = carrier_id;
  ring.layout = layout;
}

Bytes ChainJoiner::join(int cpu, Bytes first, Bytes rest) {
  auto found = rings_.find(cpu);
  CHECK(found != rings_.end());
  Ring& ring = found->second;
  RecordBlock block;
  block.bytes = first;
  if (!rest.empty()) {
    ring.whole.assign(first.begin(), first.end());
    append(rest, ring.whole);
    block.bytes = ring.whole;
  }
  ring.joined.clear();
  RecordRange range(block, kHostOrder);
  for (RecordView view; range.next(view);) record(ring, view);
  return ring.joined;
}

void ChainJoiner::record(Ring& ring, const RecordView& record) {
  if (record.type == abi::kRecordLost) return lost(ring, record);
  if (record.type != abi::kRecordSample || record.payload.size() < sizeof(uint64_t))
    return append(record.raw(), ring.joined);
  if (load<uint64_t>(record.payload.data()) == ring.carrier_id) return chain(ring, record);
  if (!sample(ring, record)) append(record.raw(), ring.joined);
}

void ChainJoiner::chain(Ring& ring, const RecordView& record) {
  Sample carried;
  if (!decode_sample(record, ring.layout, carried)) return;
  walk_chain header;
  if (carried.raw.size() < WALK_CHAIN_HEADER) return;
  std::memcpy(&header, carried.raw.data(), WALK_CHAIN_HEADER);
  Bytes addresses = carried.raw.subspan(WALK_CHAIN_HEADER);
  size_t count = std::min<size_t>(header.count, addresses.size() / sizeof(uint64_t));
  if (ring.waiting.size() == kMostWaiting) ring.waiting.erase(ring.waiting.begin());
  Chain& chain = ring.waiting.emplace_back();
  chain.tid = header.tid;
  chain.end = header.end;
  chain.object = header.object;
  chain.addresses.resize(count);
  std::memcpy(chain.addresses.data(), addresses.data(), count * sizeof(uint64_t));
}

bool ChainJoiner::sample(Ring& ring, const RecordView& record) {
  EventId event = events_.of(record);
  if (!event.valid() || !walked_[event.index()] || ring.waiting.empty()) return false;
  Sample sample;
  if (!decode_sample(record, events_[event].layout, sample)) return false;
  const Chain& chain = ring.waiting.back();
  if (chain.tid != sample.id.tid) return false;
  bool is_joined = append_with_user_chain(record, sample, chain.addresses, ring.joined);
  if (is_joined) ring.ends.add(chain.end, chain.object);
  ring.waiting.pop_back();
  return is_joined;
}

/// Readers know nothing of carriers: the losses are those of the first event.
void ChainJoiner::lost(Ring& ring, const RecordView& record) {
  ring.waiting.clear();
  size_t at = ring.joined.size();
  append(record.raw(), ring.joined);
  if (record.payload.size() < 3 * sizeof(uint64_t) || events_.all().front().ids.empty()) return;
  uint64_t id = events_.all().front().ids.front();
  auto replace = [&](size_t offset) {
    std::byte* place = ring.joined.data() + at + sizeof(abi::RecordHeader) + offset;
    if (load<uint64_t>(place) == ring.carrier_id) std::memcpy(place, &id, sizeof id);
  };
  replace(0);
  // IDENTIFIER is the last word of the id block.
  replace(record.payload.size() - sizeof(uint64_t));
}

ChainEnds ChainJoiner::ends() const {
  ChainEnds sum;
  for (const auto& [cpu, ring] : rings_) sum.add(ring.ends);
  return sum;
}

}  // namespace sonde
