// Walks over the places where a unit's source lines begin: the statements of its line table, the
// declarations of functions (where they are entered), and the calls of inlined functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "probe/source/debug_code.h"

namespace sonde {

struct LinePlace {
  const std::string& file;
  uint32_t line;
  uint64_t address;
};

using VisitLine = std::function<void(const LinePlace&)>;

/// Of the whole unit.
void walk_lines(SourceUnit& unit, const VisitLine& visit);
/// Of one function, or one inlined copy: without the lines of what is inlined into it.
void walk_lines_of(SourceUnit& unit, uint32_t function, const VisitLine& visit);

/// The line that an address stands for: that of the function's declaration where one is entered,
/// else that of the statement that begins there. An empty file if none does.
struct LineAt {
  std::string file;
  uint32_t line = 0;
};
[[nodiscard]] LineAt line_at(SourceUnit& unit, uint64_t address);

}  // namespace sonde
