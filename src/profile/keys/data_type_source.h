// Which data type, and which of its fields, the instruction of a sample accesses. Implemented by
// the readers of debug information; shown by profiles.
#pragma once

#include <cstdint>
#include <string_view>

#include "replay/frames/frame_table.h"

namespace sonde {

struct DataPlace {
  std::string_view type;   // "struct page", "(stack operation)"; valid as long as the source
  std::string_view field;  // "lru.next"; empty if the type has no field there
  uint64_t offset = 0;
  uint64_t type_size = 0;  // 0: not a type
};

class DataTypeSource {
 public:
  virtual ~DataTypeSource() = default;
  /// Called once per distinct place in code, never concurrently.
  virtual DataPlace place_of(const Frame& frame) = 0;
};

}  // namespace sonde
