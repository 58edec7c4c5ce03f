// Sizes and times with a unit letter, as several options take them: "5M", "30s".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde {

/// Bytes: a number and B, K, M or G (powers of 1024). Nothing for other text; the unit is
/// mandatory.
std::optional<uint64_t> parse_size(std::string_view text);
/// Milliseconds: a number and s, m, h or d.
std::optional<uint64_t> parse_duration_ms(std::string_view text);

}  // namespace sonde
