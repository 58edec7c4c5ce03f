// NumberHash: for tables whose keys are numbers that come from files, or two numbers in one.
//
//   tsl::robin_map<uint64_t, uint32_t, NumberHash> by_id;
//
// The standard library's hash of a number is the number itself, and tables look at its low bits.
// Where those are alike (addresses of pages, pairs whose second half is the same), every look-up
// walks past all others, and robin_map doubles itself until they differ: some thousand ids of a
// hostile file would take all memory.
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
