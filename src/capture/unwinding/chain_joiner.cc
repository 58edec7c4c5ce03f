#include "capture/unwinding/chain_joiner.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "abi/regs.h"
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

ChainCut chain_cut_of(uint32_t end) {
  return end == WALK_OUTERMOST ? ChainCut::kNone
         : end == WALK_LIMIT   ? ChainCut::kLimit
                               : ChainCut::kBroken;
}

void ChainEnds::add(uint32_t end, const walk_object_key& object, uint64_t count) {
  if (end >= WALK_ENDS) return;
  by_reason[end] += count;
  if (end != WALK_OUTERMOST) unfinished[object][end] += count;
}

void ChainEnds::add(const ChainEnds& other) {
  auto add_to = [](ByReason& sums, const ByReason& more) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  };
  add_to(by_reason, other.by_reason);
  copied += other.copied;
  missing += other.missing;
  for (const auto& [object, counts] : other.unfinished) add_to(unfinished[object], counts);
}

uint64_t ChainEnds::all() const {
  return std::accumulate(by_reason.begin(), by_reason.end(), copied + missing);
}

ChainJoiner::ChainJoiner(const std::vector<EventDesc>& events, std::vector<Walked> walked)
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
  Bytes stack = addresses.first(std::min<size_t>(header.stack_bytes, addresses.size()));
  size_t count = std::min<size_t>(header.count, addresses.size() / sizeof(uint64_t));
  if (ring.waiting.size() == kMostWaiting) ring.waiting.erase(ring.waiting.begin());
  Chain& chain = ring.waiting.emplace_back();
  chain.tid = header.tid;
  chain.end = header.end;
  chain.object = header.object;
  chain.stack.assign(stack.begin(), stack.end());
  chain.addresses.resize(count);
  if (count > 0) std::memcpy(chain.addresses.data(), addresses.data(), count * sizeof(uint64_t));
}

bool ChainJoiner::sample(Ring& ring, const RecordView& record) {
  EventId event = events_.of(record);
  if (!event.valid() || !walked_[event.index()].is_walked) return false;
  Sample sample;
  if (!decode_sample(record, events_[event].layout, sample)) return false;
  if (ring.waiting.empty() || ring.waiting.back().tid != sample.id.tid) {
    // Kernel threads have neither registers of a user program nor a chain.
    if (sample.regs_user.abi != abi::kRegsAbiNone) ++ring.ends.missing;
    return false;
  }
  Chain chain = std::move(ring.waiting.back());
  ring.waiting.pop_back();
  if (!chain.stack.empty() && join_copy(ring, record, sample, chain.stack)) return true;
  bool is_interpreted =
      !chain.addresses.empty() && InterpretedFunctions::is_frame(chain.addresses.front());
  if (interpreted_ != nullptr) interpreted_->place(chain.addresses, sample, ring.joined);
  size_t at = ring.joined.size();
  const Walked& how = walked_[event.index()];
  bool is_joined =
      (how.keeps_copies && append_with_chain(record, sample, chain.addresses, ring.joined)) ||
      append_unwound(record, sample, chain.addresses, chain_cut_of(chain.end), how.keeps_registers,
                     ring.joined);
  if (is_joined && is_interpreted && sample.cpu_mode == abi::kMiscUser &&
      events_[event].attr.samples(abi::kSampleIp)) {
    // The instruction is that of the function, too. IP follows IDENTIFIER.
    constexpr size_t kIpOffset = sizeof(abi::RecordHeader) + sizeof(uint64_t);
    std::memcpy(ring.joined.data() + at + kIpOffset, chain.addresses.data(), sizeof(uint64_t));
  }
  if (is_joined)
    ring.ends.add(chain.end, chain.object);
  else
    ++ring.ends.missing;
  return is_joined;
}

/// The copy begins at a multiple of a piece; a stack copy of the kernel's at the stack pointer.
bool ChainJoiner::join_copy(Ring& ring, const RecordView& record, const Sample& sample,
                            Bytes stack) {
  static const unsigned kStackPointer = abi::stack_pointer(abi::host_arch()).value_or(0);
  std::optional<uint64_t> pointer = sample.regs_user.get(kStackPointer);
  if (!pointer) return false;
  size_t before = *pointer % WALK_COPY_PIECE;
  if (before >= stack.size()) return false;
  Bytes copy = stack.subspan(before);
  copy = copy.first(copy.size() / sizeof(uint64_t) * sizeof(uint64_t));
  if (copy.empty() || !append_with_stack(record, sample, copy, ring.joined)) return false;
  ++ring.ends.copied;
  return true;
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
