// The event that counts nothing: recorders open it for records about tasks and memory.
#pragma once

#include "abi/perf_event.h"

namespace sonde {

/// Whether an event is the kernel's software event "dummy", which has no samples.
[[nodiscard]] inline bool is_dummy(const abi::EventAttr& attr) {
  return attr.type == abi::kTypeSoftware && attr.config == abi::kSwDummy;
}

}  // namespace sonde
