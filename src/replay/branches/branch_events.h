// Which events of a recording come with the branches before each sample.
#pragma once

#include <algorithm>

#include "perfdata/header/event_table.h"

namespace sonde {

[[nodiscard]] inline bool has_branch_stack(const EventDesc& event) {
  return event.attr.samples(abi::kSampleBranchStack);
}
[[nodiscard]] inline bool has_branch_stacks(const EventTable& events) {
  return std::ranges::any_of(events.all(), has_branch_stack);
}

}  // namespace sonde
