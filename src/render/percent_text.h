// Percentages as tables and call trees show them.
#pragma once

#include <cstddef>
#include <string>

namespace sonde::render {

/// "%*.2f" of a non-negative number: two decimals, right-aligned.
void append_percent(std::string& out, double percent, size_t width);

}  // namespace sonde::render
