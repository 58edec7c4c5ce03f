#include "symbol/source_index.h"

#include <fmt/format.h>

namespace sonde {

std::string format_srcline(const SourceLine& line, const SrclineStyle& style) {
  if (style.full_path) return fmt::format("{}:{}", line.file.path(), line.line);
  return fmt::format("{}:{}", line.file.last(), line.line);
}

std::string format_unknown_srcline(std::string_view symbol_name, uint64_t offset_in_symbol) {
  return fmt::format("{}+{}", symbol_name, offset_in_symbol);
}

std::string format_unknown_srcline_of_object(std::string_view object_name, uint64_t address) {
  return fmt::format("{}[{:x}]", object_name, address);
}

}  // namespace sonde
