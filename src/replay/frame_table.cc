#include "replay/frame_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"

namespace sonde {

FrameId FrameTable::add(size_t slot, DsoId dso, uint64_t address, FrameLevel level) {
  FrameId id(frames_.size());
  Frame& frame = frames_.emplace_back();
  frame.dso = dso;
  frame.address = address;
  frame.level = level;
  slots_[slot] = {address, where_of(dso, level), id};
  if (frames_.size() * 2 > slots_.size()) grow();
  return id;
}

void FrameTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  for (const Slot& seen : old) {
    if (!seen.frame.valid()) continue;
    size_t slot = first_slot(seen.address, seen.where);
    while (slots_[slot].frame.valid()) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = seen;
  }
}

void FrameTable::resolve_symbols(const Symbolizer& symbolizer, size_t first) {
  constexpr size_t kBatch = 1024;
  size_t batches = (frames_.size() - first + kBatch - 1) / kBatch;
  parallel_for(batches, [&](size_t batch) {
    size_t begin = first + batch * kBatch;
    size_t end = std::min(frames_.size(), begin + kBatch);
    for (size_t i = begin; i < end; ++i) {
      Frame& frame = frames_[i];
      if (!frame.dso.valid()) continue;
      frame.symbol = symbolizer.find(frame.dso, frame.address);
      if (frame.symbol.valid()) frame.symbol_start = symbolizer.start_of(frame.symbol);
    }
  });
}

uint32_t ChainTable::hash_of(std::span<const FrameId> chain) {
  return static_cast<uint32_t>(XXH3_64bits(chain.data(), chain.size_bytes()));
}

ChainId ChainTable::intern(std::span<const FrameId> chain, uint32_t hash) {
  size_t mask = slots_.size() - 1;
  size_t slot = hash >> shift_;
  for (; slots_[slot].chain.valid(); slot = (slot + 1) & mask) {
    const Slot& seen = slots_[slot];
    if (seen.hash == hash && std::ranges::equal((*this)[seen.chain], chain)) return seen.chain;
  }
  ChainId id(size());
  slots_[slot] = {hash, id};
  frames_.insert(frames_.end(), chain.begin(), chain.end());
  offsets_.push_back(frames_.size());
  if (size() * 2 > slots_.size()) grow();
  return id;
}

void ChainTable::grow() {
  CHECK(shift_ > 0);  // 2^31 chains
  LargeVector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  size_t mask = slots_.size() - 1;
  for (const Slot& seen : old) {
    if (!seen.chain.valid()) continue;
    size_t slot = seen.hash >> shift_;
    while (slots_[slot].chain.valid()) slot = (slot + 1) & mask;
    slots_[slot] = seen;
  }
}

void ChainTable::expect(size_t chains, size_t frames) {
  constexpr size_t kMost = size_t{1} << 28;  // beyond this, copying now and then is the lesser evil
  offsets_.reserve(std::min(chains, kMost) + 1);
  frames_.reserve(std::min(frames, kMost));
}

void ChainQueue::add(std::span<const FrameId> chain, ChainId& id) {
  uint32_t hash = ChainTable::hash_of(chain);
  table_.prefetch(hash);
  frames_.insert(frames_.end(), chain.begin(), chain.end());
  waiting_[count_++] = {&id, hash, static_cast<uint32_t>(frames_.size())};
  if (count_ == kLength) flush();
}

void ChainQueue::flush() {
  std::span<const FrameId> all(frames_);
  size_t begin = 0;
  for (size_t i = 0; i < count_; ++i) {
    const Waiting& chain = waiting_[i];
    *chain.id = table_.intern(all.subspan(begin, chain.end - begin), chain.hash);
    begin = chain.end;
  }
  frames_.clear();
  count_ = 0;
}

}  // namespace sonde
