#include "replay/frames/frame_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"

namespace sonde {

FrameRegion* FrameTable::region_of(DsoId dso, uint64_t address, FrameLevel level) {
  // File offsets and kernel addresses. Other addresses may be anything, and many.
  auto high = static_cast<uint32_t>(address >> 32);
  if (!dso.valid() || (high != 0 && high != UINT32_MAX)) return nullptr;
  size_t index = size_t{where_of(dso, level)} * 2 + (high & 1);
  if (region_of_.size() <= index) region_of_.resize(index + 1);
  FrameRegion*& region = region_of_[index];
  if (region == nullptr) {
    region = &regions_.emplace_back();
    region->dso_ = dso;
    region->level_ = level;
  }
  return region;
}

FrameId FrameTable::intern_anywhere(DsoId dso, uint64_t address, FrameLevel level) {
  CHECK(!slots_.empty());
  uint32_t where = where_of(dso, level);
  size_t slot = first_slot(address, where);
  for (; slots_[slot].frame.valid(); slot = (slot + 1) & (slots_.size() - 1)) {
    const Slot& seen = slots_[slot];
    if (seen.address == address && seen.where == where) return seen.frame;
  }
  FrameId id = add(dso, address, level);
  slots_[slot] = {address, where, id};
  if (++used_slots_ * 3 > slots_.size() * 2) grow();
  return id;
}

FrameId FrameTable::add(DsoId dso, uint64_t address, FrameLevel level) {
  FrameId id(frames_.size());
  Frame& frame = frames_.emplace_back();
  frame.dso = dso;
  frame.address = address;
  frame.level = level;
  return id;
}

FrameId FrameTable::add_inlined(FrameId at, SymbolId symbol) {
  Frame frame = frames_[at.index()];
  frame.symbol = symbol;
  frames_.push_back(frame);
  return FrameId(frames_.size() - 1);
}

FrameId FrameTable::add(FrameRegion& region, size_t slot, uint64_t address) {
  FrameId id = add(region.dso_, address, region.level_);
  region.slots_[slot] = {static_cast<uint32_t>(address), id};
  if (++region.used_ * 2 > region.slots_.size()) region.grow();
  return id;
}

void FrameRegion::grow() {
  LargeVector<HalfSlot> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  for (const HalfSlot& seen : old) {
    if (!seen.frame.valid()) continue;
    size_t slot = first_slot(seen.low);
    while (slots_[slot].frame.valid()) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = seen;
  }
}

void FrameTable::grow() {
  LargeVector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  --shift_;
  for (const Slot& seen : old) {
    if (!seen.frame.valid()) continue;
    size_t slot = first_slot(seen.address, seen.where);
    while (slots_[slot].frame.valid()) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = seen;
  }
}

void FrameTable::end_interning() {
  slots_ = {};
  regions_.clear();
  region_of_.clear();
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

void ChainTable::append(std::span<const FrameId> chain) {
  frames_.insert(frames_.end(), chain.begin(), chain.end());
  offsets_.push_back(frames_.size());
}

uint32_t ChainTable::hash_of(std::span<const FrameId> chain) {
  return static_cast<uint32_t>(XXH3_64bits(chain.data(), chain.size_bytes()));
}

ChainId ChainTable::intern(std::span<const FrameId> chain, uint32_t hash) {
  CHECK(appended_.empty() && !slots_.empty());
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
  if (size() * 3 > slots_.size() * 2) grow();
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

void ChainTable::append(ChainTable other) {
  CHECK(other.appended_.empty());
  size_t first = size();
  appended_size_ += other.size();
  CHECK(size() < UINT32_MAX);
  appended_.push_back({first, std::move(other.frames_), std::move(other.offsets_)});
}

size_t ChainTable::frame_count() const {
  size_t count = frames_.size();
  for (const Appended& part : appended_) count += part.frames.size();
  return count;
}

void ChainTable::renumber(std::span<const FrameId> frame_of) {
  for (FrameId& frame : frames_) frame = frame_of[frame.index()];
}

void ChainTable::clear() {
  frames_.clear();
  offsets_.resize(1);
}

void ChainTable::make_room(size_t chains, size_t frames) {
  appended_.clear();
  appended_size_ = 0;
  frames_.resize(frames);
  offsets_.resize(chains + 1);
}

void ChainTable::fill(size_t first_chain, size_t first_frame, const ChainTable& from,
                      std::span<const FrameId> frame_of) {
  for (size_t i = 1; i < from.offsets_.size(); ++i)
    offsets_[first_chain + i] = first_frame + from.offsets_[i];
  auto to = frames_.begin() + static_cast<ptrdiff_t>(first_frame);
  if (frame_of.empty())
    std::ranges::copy(from.frames_, to);
  else
    std::ranges::transform(from.frames_, to, [&](FrameId id) { return frame_of[id.index()]; });
}

std::span<const FrameId> ChainTable::appended_chain(size_t index) const {
  auto above = std::ranges::upper_bound(appended_, index, {}, &Appended::first);
  const Appended& part = *std::prev(above);
  return span_of(part.frames, part.offsets, index - part.first);
}

void ChainTable::prefetch(ChainId id) const {
  size_t i = id.index();
  const LargeVector<uint64_t>* offsets = &offsets_;
  for (const Appended& part : appended_)
    if (part.first <= id.index()) {
      offsets = &part.offsets;
      i = id.index() - part.first;
    }
  __builtin_prefetch(offsets->data() + i);
}

void ChainTable::expect(size_t chains, size_t frames) {
  constexpr size_t kMax = size_t{1} << 28;  // beyond this, occasional copying is the lesser evil
  offsets_.reserve(std::min(chains, kMax) + 1);
  frames_.reserve(std::min(frames, kMax));
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
