// The versions that Sonde reports.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// "0.1.0", from CMake's project().
[[nodiscard]] std::string_view sonde_version();

/// The perf version whose texts and formats Sonde produces when it runs under that name.
inline constexpr std::string_view kPerfVersion = "6.1";

/// "0.1.0", or as perf's stand-in "6.1.sonde-0.1.0": programs parse the first two numbers.
[[nodiscard]] std::string version_under_name(std::string_view tool);

}  // namespace sonde
