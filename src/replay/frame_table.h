// Frames and call chains, interned: each distinct place and each distinct chain of places is stored
// once.
//
// Tables grow in the order in which things are first seen. Slices of a recording fill tables of
// their own, and the slices' tables are merged in file order, which gives the ids of a sequential
// pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tsl/robin_map.h>

#include "base/ids.h"
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
  FrameId intern(DsoId dso, uint64_t address, FrameLevel level);
  [[nodiscard]] const Frame& operator[](FrameId id) const { return frames_[id.index()]; }
  [[nodiscard]] const std::vector<Frame>& all() const { return frames_; }
  [[nodiscard]] size_t size() const { return frames_.size(); }
  /// Gives the frames from `first` on their symbols; the DSOs must be loaded.
  void resolve_symbols(const Symbolizer& symbolizer, size_t first);

 private:
  struct Key {
    uint64_t address;
    uint32_t dso;
    FrameLevel level;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      uint64_t h = key.address * 0x9e3779b97f4a7c15u + key.dso * 0xc2b2ae3d27d4eb4fu;
      return static_cast<size_t>(h ^ (h >> 29));
    }
  };
  std::vector<Frame> frames_;
  tsl::robin_map<Key, uint32_t, KeyHash> ids_;
};

/// Chains of frames, leaf first, stored end to end. Context markers are not in it: a chain's frames
/// stand for the recorded addresses one by one.
class ChainTable {
 public:
  [[nodiscard]] std::span<const FrameId> operator[](ChainId id) const {
    return {frames_.data() + offsets_[id.index()], offsets_[id.index() + 1] - offsets_[id.index()]};
  }
  [[nodiscard]] size_t size() const { return hashes_.size(); }
  /// Finds or adds a chain.
  ChainId intern(std::span<const FrameId> chain);

 private:
  void grow();

  std::vector<FrameId> frames_;
  std::vector<uint64_t> offsets_{0};
  std::vector<uint64_t> hashes_;  // of each chain
  std::vector<uint32_t> slots_;   // open addressing: chain index + 1, 0 where free
};

}  // namespace sonde
