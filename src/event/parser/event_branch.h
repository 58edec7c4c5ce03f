// Branch sampling filters, as in `record -j any,u` and the term branch_type=.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// Bits of perf_event_attr.branch_sample_type. Privilege bits alone mean any branch at that
/// privilege. Error kUsage names the word.
[[nodiscard]] Result<uint64_t> parse_branch_types(std::string_view list);

/// "ANY|USER": as `record -vv` prints the bits.
[[nodiscard]] std::string branch_types_text(uint64_t bits);

}  // namespace sonde
