#include "perfdata/header/features.h"

#include <algorithm>

namespace sonde {

bool Features::has(uint32_t feature) const {
  return std::ranges::binary_search(present, feature);
}

}  // namespace sonde
