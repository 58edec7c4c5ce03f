// Compressed bytes expanded into memory that has a path: a memfd.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// An anonymous file of this process; /proc/self/fd/N opens it.
Result<Fd> memory_file(const std::string& name);

// What grows more than a thousand times, and beyond a gigabyte, is damaged.

/// Expands zstd frames to their end, without the first `skip` bytes of what comes out and no more
/// than `most` bytes after those. Errors: kCorrupt, kIo.
Result<> expand_zstd(Bytes compressed, uint64_t skip, uint64_t most, int fd,
                     const std::string& name);
/// The first bytes that come out of a zstd frame, `most` of them where there are so many.
Result<std::vector<std::byte>> begin_of_zstd(Bytes frame, size_t most);
/// Expands bzip2 streams, one behind the other, to their end.
Result<> expand_bzip2(Bytes compressed, int fd, const std::string& name);

}  // namespace sonde
