// Frames and call chains, interned: each distinct place and each distinct chain of places is stored
// once.
//
// Tables grow in the order in which things are first seen. Slices of a recording fill tables of
// their own, and the slices' tables are merged in file order, which gives the ids of a sequential
// pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/large_vector.h"
#include "machine/dso.h"
#include "symbol/symbolizer.h"

namespace sonde {

using FrameId = Id<struct FrameTag>;
using ChainId = Id<struct ChainTag>;

/// perf's level letter of an address.
enum class FrameLevel : char {
  kUser = '.',
  kKernel = 'k',
  kGuestKernel = 'g',
  kGuestUser = 'u',
  kHypervisor = 'H',
  kUnknown = '?',
};

/// A distinct place in code: one entry per (DSO, address inside it). Processes that map a library
/// at different addresses share its frames.
struct Frame {
  DsoId dso;        // invalid: nothing was mapped there
  SymbolId symbol;  // invalid: no symbol
  uint64_t address =
      0;  // inside the DSO (Mapping::to_object); the run time address where there is no DSO
  uint64_t symbol_start =
      0;  // 0 without symbol; `address - symbol_start` is the offset that is shown
  FrameLevel level = FrameLevel::kUnknown;
};

class FrameTable {
 public:
  FrameId intern(DsoId dso, uint64_t address, FrameLevel level) {
    uint32_t where = where_of(dso, level);
    for (size_t slot = first_slot(address, where);; slot = (slot + 1) & (slots_.size() - 1)) {
      const Slot& seen = slots_[slot];
      if (seen.address == address && seen.where == where) [[likely]]
        return seen.frame;
      if (!seen.frame.valid()) return add(slot, dso, address, level);
    }
  }
  [[nodiscard]] const Frame& operator[](FrameId id) const { return frames_[id.index()]; }
  [[nodiscard]] const std::vector<Frame>& all() const { return frames_; }
  [[nodiscard]] size_t size() const { return frames_.size(); }
  /// Gives the frames from `first` on their symbols; the DSOs must be loaded.
  void resolve_symbols(const Symbolizer& symbolizer, size_t first);

 private:
  /// The whole key stands in the slot, so that a frame that is known costs one cache line.
  struct Slot {
    uint64_t address = 0;
    uint32_t where = kFree;
    FrameId frame;
  };
  static constexpr uint32_t kFree = 7;  // no level has this number
  static constexpr size_t kFirstSlots = 1024;

  /// DSO and level in one word. DSOs are far fewer than 2^29; no DSO gives the same word for none.
  static uint32_t where_of(DsoId dso, FrameLevel level);
  [[nodiscard]] size_t first_slot(uint64_t address, uint32_t where) const {
    return ((address ^ (uint64_t{where} << 40)) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  FrameId add(size_t slot, DsoId dso, uint64_t address, FrameLevel level);
  void grow();

  std::vector<Frame> frames_;
  std::vector<Slot> slots_ = std::vector<Slot>(kFirstSlots);  // open addressing, at most half full
  int shift_ = 54;                                            // 64 - log2 of the slots
};

inline uint32_t FrameTable::where_of(DsoId dso, FrameLevel level) {
  uint32_t number = 5;
  switch (level) {
    case FrameLevel::kUser:
      number = 0;
      break;
    case FrameLevel::kKernel:
      number = 1;
      break;
    case FrameLevel::kGuestKernel:
      number = 2;
      break;
    case FrameLevel::kGuestUser:
      number = 3;
      break;
    case FrameLevel::kHypervisor:
      number = 4;
      break;
    case FrameLevel::kUnknown:
      break;
  }
  return (dso.value << 3) | number;
}

/// Chains of frames, leaf first, stored end to end. Context markers are not in it: a chain's frames
/// stand for the recorded addresses one by one.
class ChainTable {
 public:
  [[nodiscard]] std::span<const FrameId> operator[](ChainId id) const {
    return {frames_.data() + offsets_[id.index()], offsets_[id.index() + 1] - offsets_[id.index()]};
  }
  [[nodiscard]] size_t size() const { return offsets_.size() - 1; }
  /// Of all chains together.
  [[nodiscard]] size_t frame_count() const { return frames_.size(); }
  /// Finds or adds a chain.
  ChainId intern(std::span<const FrameId> chain) { return intern(chain, hash_of(chain)); }

  /// The same in two steps: between `prefetch` and `intern` there is time for other work while the
  /// slot comes from memory. See ChainQueue.
  [[nodiscard]] static uint32_t hash_of(std::span<const FrameId> chain);
  void prefetch(uint32_t hash) const { __builtin_prefetch(&slots_[hash >> shift_]); }
  ChainId intern(std::span<const FrameId> chain, uint32_t hash);

  /// Address space for what is expected, so that growing does not copy; no memory is used yet.
  void expect(size_t chains, size_t frames);

 private:
  struct Slot {
    uint32_t hash = 0;
    ChainId chain;
  };
  static constexpr size_t kFirstSlots = 1024;
  void grow();

  LargeVector<FrameId> frames_;
  LargeVector<uint64_t> offsets_{0};
  // Open addressing by the upper bits of the hash, at most half full: in a table twice as large
  // the entries keep their order, so growing is a walk.
  LargeVector<Slot> slots_ = LargeVector<Slot>(kFirstSlots);
  int shift_ = 22;  // 32 - log2 of the slots
};

/// Chains on their way into a table, in order; each waits until a few more have come, and its slot
/// from memory meanwhile.
class ChainQueue {
 public:
  explicit ChainQueue(ChainTable& table) : table_(table) {}
  /// `id` is set at the latest by flush().
  void add(std::span<const FrameId> chain, ChainId& id);
  void flush();

 private:
  struct Waiting {
    ChainId* id;
    uint32_t hash;
    uint32_t end;  // in frames_
  };
  static constexpr size_t kLength = 16;

  ChainTable& table_;
  std::vector<FrameId> frames_;
  std::array<Waiting, kLength> waiting_;
  size_t count_ = 0;
};

}  // namespace sonde
