// One address space over time: what was mapped where, and when.
//
// Mappings are added in time order; a later one replaces what it overlaps. The replaced pieces are
// kept with the time at which they ended, so that `find(address, time)` answers for any moment:
//
//   address →   |----libA----|---libB---|          t=10
//   t=20 maps        |--libC--|
//
//   find(x in the middle, 15) = libA or libB; find(x in the middle, 25) = libC
//
// Adding is amortised O(log n); finding is a binary search. After `freeze()` reads are thread-safe.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/ids.h"
#include "machine/dso.h"

namespace sonde {

/// A range of addresses backed by a DSO.
struct Mapping {
  RuntimeAddr start;
  RuntimeAddr end;    // exclusive
  FileOffset offset;  // of `start` in the DSO
  DsoId dso;
  bool identity =
      false;  // addresses are the same in the DSO (JIT, kernel): there is no file offset
  uint32_t protection = 0;
  bool shared = false;  // with other processes: MAP_SHARED
  uint64_t inode = 0;   // of the file, if the record has it

  /// The address inside the DSO that is used for symbol lookup and shown if there is no symbol: a
  /// file offset for files, the run time address for `identity` mappings.
  [[nodiscard]] uint64_t to_object(RuntimeAddr address) const {
    return identity ? address.value : (address - start) + offset.value;
  }
};
using MappingId = Id<struct MappingTag>;

class AddressSpace {
 public:
  void map(uint64_t time, RuntimeAddr start, RuntimeAddr end, MappingId mapping);
  /// The same, but leaves pieces of [start, end) alone for whose mapping `keeps` returns true.
  void map_around(uint64_t time, RuntimeAddr start, RuntimeAddr end, MappingId mapping,
                  const std::function<bool(MappingId)>& keeps);
  void unmap(uint64_t time, RuntimeAddr start, RuntimeAddr end);
  /// A copy of the current mappings, after everything added so far: for fork.
  [[nodiscard]] AddressSpace current(uint64_t time) const;
  [[nodiscard]] size_t current_pieces() const { return current_.size(); }
  void freeze();
  /// Drops what ended at `time` or before. Call freeze again afterwards.
  void forget_before(uint64_t time);

  /// The mapping is invalid if nothing was mapped. Also returns the time span [valid_from,
  /// valid_to) and the addresses [start, end) for which the answer holds. If nothing was mapped,
  /// the range is a gap between mappings of any time, or empty if there were others.
  struct Found {
    MappingId mapping;
    uint64_t valid_from = 0;
    uint64_t valid_to = UINT64_MAX;
    RuntimeAddr start, end;
  };
  [[nodiscard]] Found find(RuntimeAddr address, uint64_t time) const;

  /// Every piece with its time span, in order of start; for dumps and tests.
  struct Piece {
    RuntimeAddr start, end;
    uint64_t from, to;  // ns
    MappingId mapping;
  };
  [[nodiscard]] std::vector<Piece> pieces() const;

 private:
  struct Current {
    RuntimeAddr end;
    uint64_t since;
    MappingId mapping;
  };
  void cut(uint64_t time, RuntimeAddr start, RuntimeAddr end);

  std::map<RuntimeAddr, Current> current_;
  std::vector<Piece> history_;
  std::vector<Piece> frozen_;       // current and history, by start
  std::vector<RuntimeAddr> reach_;  // frozen_: largest end so far
  bool changed_ = true;             // since it was frozen
};

}  // namespace sonde
