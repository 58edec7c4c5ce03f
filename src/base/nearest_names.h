// What a mistyped name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// The candidates that resemble `name`, best first, at most `limit`.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                     const std::vector<std::string>& candidates,
                                                     size_t limit = 3);
/// "Did you mean 'a' or 'b'?"; empty for no names.
[[nodiscard]] std::string did_you_mean(const std::vector<std::string>& names);

}  // namespace sonde
