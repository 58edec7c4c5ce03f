// Expands compressed bytes into memory that has a path: a memfd.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// An anonymous file of this process; /proc/self/fd/N opens it.
Result<Fd> memory_file(const std::string& name);

// How much anything may expand to: base/expansion_allowance.h.

/// Expands zstd frames to their end; skips the first `skip` bytes of the output and writes at most
/// `most` bytes after those. Errors: kCorrupt, kIo, kUnsupported if it is too large.
Result<> expand_zstd(Bytes compressed, uint64_t skip, uint64_t most, int fd,
                     const std::string& name);
/// The first `most` bytes of a zstd frame's output, or fewer if it is shorter.
Result<std::vector<std::byte>> begin_of_zstd(Bytes frame, size_t most);
/// Expands concatenated bzip2 streams to their end.
Result<> expand_bzip2(Bytes compressed, int fd, const std::string& name);

}  // namespace sonde
