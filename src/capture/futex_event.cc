#include "capture/futex_event.h"

namespace sonde {

ParsedEvent futex_event() {
  ParsedEvent event;
  event.name = kFutexEventName;
  event.attr.type = abi::kTypeSoftware;
  event.attr.config = abi::kSwBpfOutput;
  event.attr.sample_period = 1;
  return event;
}

}  // namespace sonde
