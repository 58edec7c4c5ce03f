// Identifies the file behind a mapping, as the kernel reports it in MMAP2 records. It distinguishes
// two files with the same path (in two containers, or before and after an upgrade).
#pragma once

#include <compare>
#include <cstdint>

namespace sonde {

struct FileIdentity {
  uint32_t major = 0, minor = 0;  // of the device
  uint64_t inode = 0;             // 0: not known
  [[nodiscard]] bool known() const { return inode != 0; }
  auto operator<=>(const FileIdentity&) const = default;
};

}  // namespace sonde
