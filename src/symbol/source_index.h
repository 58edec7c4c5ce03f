// Source lines as the sort keys srcline and srcfile print them, with what they print when there is
// no DWARF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "dwarf/line_index.h"

namespace sonde {

struct SrclineStyle {
  bool full_path = false;  // --full-source-path: whole paths instead of the last component
};

/// "spin.c:7".
std::string format_srcline(const SourceLine& line, const SrclineStyle& style);
/// What perf prints where the object's file is there but tells no line (srcfile is then empty).
/// Where there is no file at all, as for the kernel, the functions below make up for it.
inline constexpr std::string_view kNoSrcline = "??:0";
/// "main+53", or "libfoo.so[1139]" where there is no symbol either: what stands for an unknown
/// line.
std::string format_unknown_srcline(std::string_view symbol_name, uint64_t offset_in_symbol);
std::string format_unknown_srcline_of_object(std::string_view object_name, uint64_t address);

}  // namespace sonde
