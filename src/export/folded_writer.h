// Folded stacks: "outermost;…;innermost 12", a line per distinct stack that has a weight.
#pragma once

#include <span>

#include "base/sink.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Lines stand in the order of their bytes, as `LC_ALL=C sort` puts stacks. With several columns,
/// each line has all their values, and stands where one of them is not 0.
void write_folded(Sink& out, const StackProfile& profile, std::span<const size_t> columns);
inline void write_folded(Sink& out, const StackProfile& profile, size_t column) {
  write_folded(out, profile, std::span(&column, 1));
}
/// Integers without a point; what is none with as many digits as it takes.
void append_value(std::string& text, double value);

}  // namespace sonde
