#include "replay/frame_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/parallel.h"

namespace sonde {

FrameId FrameTable::intern(DsoId dso, uint64_t address, FrameLevel level) {
  auto [entry, added] =
      ids_.try_emplace(Key{address, dso.value, level}, static_cast<uint32_t>(frames_.size()));
  if (added) {
    Frame& frame = frames_.emplace_back();
    frame.dso = dso;
    frame.address = address;
    frame.level = level;
  }
  return FrameId(entry->second);
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

ChainId ChainTable::intern(std::span<const FrameId> chain) {
  if ((hashes_.size() + 1) * 2 > slots_.size()) grow();
  uint64_t hash = XXH3_64bits(chain.data(), chain.size_bytes());
  size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      slots_[slot] = static_cast<uint32_t>(hashes_.size() + 1);
      break;
    }
    size_t index = slots_[slot] - 1;
    if (hashes_[index] == hash && std::ranges::equal((*this)[ChainId(index)], chain))
      return ChainId(index);
  }
  frames_.insert(frames_.end(), chain.begin(), chain.end());
  offsets_.push_back(frames_.size());
  hashes_.push_back(hash);
  return ChainId(hashes_.size() - 1);
}

void ChainTable::grow() {
  std::vector<uint32_t> slots(std::max<size_t>(1024, slots_.size() * 2));
  size_t mask = slots.size() - 1;
  for (size_t i = 0; i < hashes_.size(); ++i) {
    size_t slot = hashes_[i] & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = static_cast<uint32_t>(i + 1);
  }
  slots_ = std::move(slots);
}

}  // namespace sonde
