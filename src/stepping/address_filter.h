// What to trace of a program, in perf's notation for address filters (perf-record(1), --filter):
//
//   filter FUNCTION [@ OBJECT]     only the function's own instructions, not those that it calls
//   start FUNCTION [@ OBJECT]      from the function's entry on, each thread by itself
//   stop FUNCTION [@ OBJECT]       until that function's entry
//
// Several are separated by commas. Without OBJECT, the command's program is meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct AddressFilter {
  enum class Kind : uint8_t { kFilter, kStart, kStop };
  Kind kind = Kind::kFilter;
  std::string object;             // a path without links, as mappings show it
  uint64_t offset = 0, size = 0;  // of the function, in the object's file
};

/// `program`: the command's name; `path`: where it is looked for. Errors: kUsage for text that is
/// not a filter, kNotFound for objects and functions.
Result<std::vector<AddressFilter>> parse_address_filters(std::string_view text,
                                                         const std::string& program,
                                                         std::string_view path);

/// At most so many entries can be waited for: hardware breakpoints of a thread, less the one for
/// repeated instructions.
inline constexpr size_t kMostAddressFilters = 3;

}  // namespace sonde
