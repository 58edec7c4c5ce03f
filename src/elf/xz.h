// xz decompression, for .gnu_debugdata. Input is untrusted: memory and output are bounded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// The unpacked bytes, at most `limit`. `name` is what error messages call the input.
Result<std::vector<std::byte>> decompress_xz(Bytes packed, const std::string& name,
                                             size_t limit = size_t{256} << 20);

}  // namespace sonde
