// Where a pprof profile says that objects were mapped. A profile covers many processes, each of
// which may map an object elsewhere, but the format has one address range for it. So files are laid
// out one after another, each as if mapped whole, and an address is the start of its mapping plus
// the file offset: from that, pprof finds the instruction in the object. The kernel and generated
// code keep their run-time addresses.
//
//   libc.so.6   start 0x10000   limit 0x1e8000       read+0x10 at 0x10000 + 0x11c210
//
// Without addresses, a mapping is only a name.
#pragma once

#include <cstdint>
#include <vector>

#include <tsl/robin_map.h>

#include "stacks/stack_profile.h"

namespace sonde {

struct PprofMapping {
  uint32_t id = 0;  // starting at 1
  StringId object = {};
  uint64_t start = 0, limit = 0;  // the limit is exclusive; both 0: not known
};

/// The place of a frame; zeros if not known.
struct PprofPlace {
  uint32_t mapping = 0;
  uint64_t address = 0;
};

class PprofMappings {
 public:
  explicit PprofMappings(const StackProfile& profile);
  /// The mappings of all objects, in the order in which frames first name them.
  [[nodiscard]] const std::vector<PprofMapping>& all() const { return mappings_; }
  [[nodiscard]] PprofPlace place_of(const StackFrame& frame) const;

 private:
  void put_files_in_a_row();

  std::vector<PprofMapping> mappings_;
  std::vector<uint64_t> shift_;                    // by mapping: added to a frame's address
  tsl::robin_map<uint32_t, uint32_t> mapping_of_;  // by object
};

}  // namespace sonde
