// Frames and call chains, interned: each distinct place and each distinct chain of places is stored
// once.
//
// Tables grow in the order in which things are first seen. Each slice of a recording fills its own
// tables. The slices' frames are merged in file order, which gives the ids of a sequential pass;
// their chains are concatenated. Two slices have few chains in common, and looking for those took a
// third as long as all the rest: so a chain is stored once per slice, and no output may depend on
// its id.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
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
  kDeferred = 'd',  // no place: the cookie of a missing user part
};

/// A distinct place in code: one entry per (DSO, address in it). Processes that map a library at
/// different addresses share its frames.
struct Frame {
  DsoId dso;             // invalid: nothing was mapped there
  SymbolId symbol;       // invalid: no symbol
  uint64_t address = 0;  // in the DSO (Mapping::to_object); the run time address if there is no DSO
  uint64_t symbol_start = 0;  // 0 without symbol; the displayed offset is `address - symbol_start`
  FrameLevel level = FrameLevel::kUnknown;
  // By call frame information or the processor's call stack, in at least one chain.
  bool was_unwound = false;
};

/// The frames of one object whose addresses share their upper half: that is all of them, except for
/// generated code and addresses without an object. Half an address per slot keeps the table in the
/// second-level cache, which halves the time to look up ten million frames.
class FrameRegion {
 private:
  friend class FrameTable;
  struct HalfSlot {
    uint32_t low = 0;  // of the address
    FrameId frame;
  };
  static constexpr size_t kFirstSlots = 16;
  [[nodiscard]] size_t first_slot(uint32_t low) const { return (low * 0x9e3779b1u) >> shift_; }
  void grow();

  DsoId dso_;
  FrameLevel level_ = FrameLevel::kUnknown;
  size_t used_ = 0;
  LargeVector<HalfSlot> slots_ = LargeVector<HalfSlot>(kFirstSlots);  // at most half full
  int shift_ = 28;                                                    // 32 - log2 of the slots
};

class FrameTable {
 public:
  FrameTable() = default;
  FrameTable(FrameTable&&) = default;
  FrameTable& operator=(FrameTable&&) = default;

  FrameId intern(DsoId dso, uint64_t address, FrameLevel level) {
    FrameRegion* region = region_of(dso, address, level);
    return region != nullptr ? intern(*region, address) : intern_anywhere(dso, address, level);
  }
  /// The region of an address; null if it has none. Valid as long as the table.
  FrameRegion* region_of(DsoId dso, uint64_t address, FrameLevel level);
  /// The same for consecutive addresses of one region.
  FrameId intern(FrameRegion& region, uint64_t address);
  [[nodiscard]] const Frame& operator[](FrameId id) const { return frames_[id.index()]; }
  [[nodiscard]] const std::vector<Frame>& all() const { return frames_; }
  [[nodiscard]] size_t size() const { return frames_.size(); }
  void mark_unwound(FrameId id) { frames_[id.index()].was_unwound = true; }
  /// What was found out about a frame as a caller (CallSites); kept with it.
  enum class CallerCheck : uint8_t { kNotYet, kPossible, kImpossible };
  CallerCheck& caller_check(FrameId id) {
    if (caller_checks_.size() <= id.index()) caller_checks_.resize(frames_.size());
    return caller_checks_[id.index()];
  }
  /// Adds a frame for a function inlined at `at`. intern() never returns it.
  FrameId add_inlined(FrameId at, SymbolId symbol);
  /// Puts a frame that has no DSO into one, at the same address.
  void place_in(DsoId dso, FrameId id) { frames_[id.index()].dso = dso; }
  /// Reserves address space for this many frames, so that growing does not copy; uses no memory
  /// yet.
  void expect(size_t frames) { frames_.reserve(std::min(frames, kMostExpected)); }
  /// Gives back the memory by which frames are found; intern() must not be called after this.
  void end_interning();
  /// Sets the symbols of the frames from `first` on; the DSOs must be loaded.
  void resolve_symbols(const Symbolizer& symbolizer, size_t first);

 private:
  /// For addresses without a region. The slot contains the whole key, so that looking up a known
  /// frame costs one cache line.
  struct Slot {
    uint64_t address = 0;
    uint32_t where = kFree;
    FrameId frame;
  };
  static constexpr uint32_t kFree = 7;  // no level has this number
  static constexpr size_t kMostExpected = size_t{1} << 24;
  static constexpr size_t kFirstSlots = 1024;

  /// DSO and level in one word. There are far fewer than 2^29 DSOs; all invalid ones give the same
  /// word.
  static uint32_t where_of(DsoId dso, FrameLevel level);
  [[nodiscard]] size_t first_slot(uint64_t address, uint32_t where) const {
    return ((address ^ (uint64_t{where} << 40)) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  FrameId intern_anywhere(DsoId dso, uint64_t address, FrameLevel level);
  FrameId add(DsoId dso, uint64_t address, FrameLevel level);
  FrameId add(FrameRegion& region, size_t slot, uint64_t address);
  void grow();

  std::vector<Frame> frames_;
  std::vector<CallerCheck> caller_checks_;  // by frame; apart, because every chain asks for them
  LargeVector<Slot> slots_ = LargeVector<Slot>(kFirstSlots);  // open addressing
  size_t used_slots_ = 0;
  int shift_ = 54;  // 64 - log2 of the slots
  std::deque<FrameRegion> regions_;
  std::vector<FrameRegion*> region_of_;  // by DSO, level and upper half
};

inline FrameId FrameTable::intern(FrameRegion& region, uint64_t address) {
  auto low = static_cast<uint32_t>(address);
  size_t mask = region.slots_.size() - 1;
  for (size_t slot = region.first_slot(low);; slot = (slot + 1) & mask) {
    const FrameRegion::HalfSlot& seen = region.slots_[slot];
    if (!seen.frame.valid()) return add(region, slot, address);
    if (seen.low == low) [[likely]]
      return seen.frame;
  }
}

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
    case FrameLevel::kDeferred:
      number = 6;
      break;
    case FrameLevel::kUnknown:
      break;
  }
  return (dso.value << 3) | number;
}

/// Call chains, leaf first, stored end to end. Context markers are not included: a chain's frames
/// correspond to the recorded addresses one to one.
class ChainTable {
 public:
  [[nodiscard]] std::span<const FrameId> operator[](ChainId id) const {
    size_t i = id.index();
    return i + 1 < offsets_.size() ? span_of(frames_, offsets_, i) : appended_chain(i);
  }
  [[nodiscard]] size_t size() const { return offsets_.size() - 1 + appended_size_; }
  /// For a chain that will be looked up soon.
  void prefetch(ChainId id) const;
  /// Over all chains.
  [[nodiscard]] size_t frame_count() const;
  /// Finds or adds a chain; must not be called after append() or end_interning().
  ChainId intern(std::span<const FrameId> chain) { return intern(chain, hash_of(chain)); }

  /// The same in two steps: between `prefetch` and `intern` there is time for other work while the
  /// slot is fetched from memory. See ChainQueue.
  [[nodiscard]] static uint32_t hash_of(std::span<const FrameId> chain);
  void prefetch(uint32_t hash) const { __builtin_prefetch(&slots_[hash >> shift_]); }
  ChainId intern(std::span<const FrameId> chain, uint32_t hash);

  /// Adds a chain that is known to be new; later ones are not compared with it.
  void append(std::span<const FrameId> chain);
  /// Appends the chains of another table; their ids start at the current size(). Frames are mapped
  /// through `frame_of`.
  void append(ChainTable other);
  void renumber(std::span<const FrameId> frame_of);

  /// Gives back the memory by which chains are found; intern() must not be called after this.
  void end_interning() { slots_ = {}; }

  /// Forgets chains that were appended, and keeps the memory.
  void clear();
  /// Replaces all chains by this many, which have so many frames in all and are to be filled.
  void make_room(size_t chains, size_t frames);
  /// Copies the appended chains of another table to where they belong among these, mapped through
  /// `frame_of` unless it is empty. Threads may fill different parts at a time.
  void fill(size_t first_chain, size_t first_frame, const ChainTable& from,
            std::span<const FrameId> frame_of);

  /// Reserves address space for what is expected, so that growing does not copy; uses no memory
  /// yet.
  void expect(size_t chains, size_t frames);

 private:
  struct Slot {
    uint32_t hash = 0;
    ChainId chain;
  };
  /// The chains of another table.
  struct Appended {
    size_t first;  // id
    LargeVector<FrameId> frames;
    LargeVector<uint64_t> offsets;
  };
  static constexpr size_t kFirstSlots = 1024;
  [[nodiscard]] static std::span<const FrameId> span_of(const LargeVector<FrameId>& frames,
                                                        const LargeVector<uint64_t>& offsets,
                                                        size_t i) {
    return {frames.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
  [[nodiscard]] std::span<const FrameId> appended_chain(size_t index) const;
  void grow();

  LargeVector<FrameId> frames_;
  LargeVector<uint64_t> offsets_{0};
  std::vector<Appended> appended_;
  size_t appended_size_ = 0;
  // Open addressing by the upper bits of the hash, at most two thirds full: in a table of twice the
  // size the entries keep their order, so growing is a linear walk.
  LargeVector<Slot> slots_ = LargeVector<Slot>(kFirstSlots);
  int shift_ = 22;  // 32 - log2 of the slots
};

/// A queue of chains to be interned, in order. Each chain waits until a few more have arrived,
/// while its slot is fetched from memory.
class ChainQueue {
 public:
  explicit ChainQueue(ChainTable& table) : table_(table) {}
  /// `id` is set by flush() at the latest.
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
