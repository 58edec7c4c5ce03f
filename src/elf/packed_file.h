// Objects that are compressed on disk: kernel modules, as most distributions install them
// (nfsd.ko.xz, .ko.zst, .ko.gz), also under other names in caches. Input is untrusted: output is
// bounded (base/expansion_allowance.h).
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// Detected by the first bytes.
bool is_packed(Bytes content);
/// The uncompressed content. `path` is for messages.
Result<std::vector<std::byte>> unpack_file(const std::string& path, Bytes content);

}  // namespace sonde
