// xz decompression, for .gnu_debugdata. Input is untrusted: memory and output are bounded
// (base/expansion_allowance.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// The uncompressed bytes. Error messages call the input `name`.
Result<std::vector<std::byte>> decompress_xz(Bytes packed, const std::string& name);

}  // namespace sonde
