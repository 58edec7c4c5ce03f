// Source lines as the sort keys srcline and srcfile print them, and what they print without DWARF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "dwarf/line_index.h"

namespace sonde {

struct SrclineStyle {
  bool full_path = false;  // --full-source-path: full paths instead of the last component
};

/// "spin.c:7".
std::string format_srcline(const SourceLine& line, const SrclineStyle& style);
/// What perf prints if the object's file exists but gives no line (srcfile is then empty). If there
/// is no file at all, as for the kernel, the functions below are used instead.
inline constexpr std::string_view kNoSrcline = "??:0";
/// Replacement for an unknown line: "main+53", or "libfoo.so[1139]" without a symbol.
std::string format_unknown_srcline(std::string_view symbol_name, uint64_t offset_in_symbol);
std::string format_unknown_srcline_of_object(std::string_view object_name, uint64_t address);

}  // namespace sonde
