// Sizes of memory, as perf bench mem takes them: "1MB", "4kb", "512".
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sonde {

/// Bytes: a number and B, K, KB, M, MB, G, GB, T or TB in any case (powers of 1024), or nothing.
/// Nothing for other text, and for what does not fit.
std::optional<size_t> parse_memory_size(std::string_view text);

}  // namespace sonde
