// Build ids as people write them: in hexadecimal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// The bytes of 16 to 40 digits, as perf takes them; nullopt for anything else.
[[nodiscard]] std::optional<std::string> build_id_of_digits(std::string_view digits);

/// The bytes of each build id in a file that has one per line. kUsage: a line is something else.
Result<std::vector<std::string>> read_build_ids(const std::string& file);

}  // namespace sonde
