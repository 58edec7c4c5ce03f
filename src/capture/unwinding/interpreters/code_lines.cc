#include "capture/unwinding/interpreters/code_lines.h"

#include <algorithm>

namespace sonde {

CodeLines::CodeLines(Bytes table, uint32_t first_line, Form form)
    : lowest_(first_line), highest_(first_line) {
  if (form.format == PYTHON_LOCATIONS) read_locations(table);
  if (form.format == PYTHON_RANGES) read_ranges(table);
  if (form.format == PYTHON_LINE_STARTS) read_line_starts(table, form.is_cut);
  if (form.format == RUBY_INSTRUCTIONS) read_ruby(table);
}

void CodeLines::add(uint32_t end, int64_t line, bool has_line) {
  // A module begins at line 0.
  has_line = has_line && line > 0;
  auto number = static_cast<uint32_t>(line);
  ranges_.push_back({end, has_line ? number : kNone});
  if (!has_line) return;
  lowest_ = std::min(lowest_, number);
  highest_ = std::max(highest_, number);
}

std::optional<uint32_t> CodeLines::line_at(uint32_t unit) const {
  auto found = std::ranges::upper_bound(ranges_, unit, {}, &Range::end);
  if (found == ranges_.end() || found->line == kNone) return std::nullopt;
  return found->line;
}

}  // namespace sonde
