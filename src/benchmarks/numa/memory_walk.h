// How the tasks of numa mem go through their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde {

struct MemoryWalk {
  bool reads = false, writes = false;  // neither: both
  bool backwards = false;              // a second time, from the end
  bool random = false;                 // as many words, drawn by a shift register
  bool clears = false;                 // by memset instead

  /// Goes through all words once; returns the bytes that were touched.
  uint64_t pass(std::span<uint64_t> words) const;
};

}  // namespace sonde
