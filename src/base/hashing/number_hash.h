// NumberHash: for tables keyed by numbers from files, or by two numbers packed into one.
//
//   tsl::robin_map<uint64_t, uint32_t, NumberHash> by_id;
//
// The standard library's hash of a number is the number itself, and tables use its low bits. If
// those are equal (page addresses, pairs with the same second half), every lookup walks past all
// other entries, and robin_map doubles itself until they differ: a few thousand ids in a hostile
// file would take all memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

struct NumberHash {
  size_t operator()(uint64_t key) const {
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;  // the mixing of SplitMix64
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
  }
};

}  // namespace sonde
