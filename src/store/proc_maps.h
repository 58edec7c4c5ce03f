// Parses lines of /proc/PID/maps: address ranges, their permissions and the file they map.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde {

struct ProcMapping {
  uint64_t start = 0, end = 0, offset = 0, inode = 0;
  uint32_t major = 0, minor = 0;
  bool readable = false, writable = false, executable = false, shared = false;
  std::string_view path;  // empty for anonymous memory
};

/// One line without its newline; nullopt if it is malformed (proc(5), "maps").
std::optional<ProcMapping> parse_proc_mapping(std::string_view line);

}  // namespace sonde
