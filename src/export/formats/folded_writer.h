// Folded stacks: "outermost;…;innermost 12", a line per distinct stack that has a weight.
#pragma once

#include <span>

#include "base/sink.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Lines are sorted by bytes, as `LC_ALL=C sort` sorts stacks. With several columns, each line has
/// all their values, and is written if any of them is not 0.
void write_folded(Sink& out, const StackProfile& profile, std::span<const size_t> columns);
inline void write_folded(Sink& out, const StackProfile& profile, size_t column) {
  write_folded(out, profile, std::span(&column, 1));
}
/// Integers without a decimal point; other values with as many digits as needed.
void append_value(std::string& text, double value);

}  // namespace sonde
