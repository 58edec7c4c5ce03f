// Which file a mapping shows, as the kernel tells it in MMAP2 records: two files of one path (in
// two containers, or before and after an upgrade) differ in it.
#pragma once

#include <cstdint>

namespace sonde {

struct FileIdentity {
  uint32_t major = 0, minor = 0;  // of the device
  uint64_t inode = 0;             // 0: not known
  [[nodiscard]] bool known() const { return inode != 0; }
  bool operator==(const FileIdentity&) const = default;
};

}  // namespace sonde
