// Where a profile of pprof says that objects were mapped. A profile is of many processes, in each
// of which an object may lie elsewhere, but the format has one place for it. So files stand in a
// row, each as if it had been mapped whole, and an address is its mapping's start plus the offset
// in the file: with that, pprof finds the instruction in the object. The kernel and generated code
// lie where they ran.
//
//   libc.so.6   start 0x10000   limit 0x1e8000       read+0x10 at 0x10000 + 0x11c210
//
// Without addresses a mapping is a name only.
#pragma once

#include <cstdint>
#include <vector>

#include <tsl/robin_map.h>

#include "stacks/stack_profile.h"

namespace sonde {

struct PprofMapping {
  uint32_t id = 0;  // from 1 on
  StringId object = {};
  uint64_t start = 0, limit = 0;  // the limit is no part of it; both 0: not known
};

/// Of a frame; zeros where it is not known.
struct PprofPlace {
  uint32_t mapping = 0;
  uint64_t address = 0;
};

class PprofMappings {
 public:
  explicit PprofMappings(const StackProfile& profile);
  /// Of all objects, in the order in which frames name them.
  [[nodiscard]] const std::vector<PprofMapping>& all() const { return mappings_; }
  [[nodiscard]] PprofPlace place_of(const StackFrame& frame) const;

 private:
  void put_files_in_a_row();

  std::vector<PprofMapping> mappings_;
  std::vector<uint64_t> shift_;                    // by mapping: from a frame's address
  tsl::robin_map<uint32_t, uint32_t> mapping_of_;  // by object
};

}  // namespace sonde
