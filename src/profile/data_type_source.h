// Which type of data, and which field of it, the instruction of a sample touches. Who reads debug
// information answers; profiles show it.
#pragma once

#include <cstdint>
#include <string_view>

#include "replay/frame_table.h"

namespace sonde {

struct DataPlace {
  std::string_view type;   // "struct page", "(stack operation)"; lives as long as the source
  std::string_view field;  // "lru.next"; empty where the type has none there
  uint64_t offset = 0;
  uint64_t type_size = 0;  // 0: not a type
};

class DataTypeSource {
 public:
  virtual ~DataTypeSource() = default;
  /// Asked once per distinct place in code, never from two threads at once.
  virtual DataPlace place_of(const Frame& frame) = 0;
};

}  // namespace sonde
