// Standard headers that nearly every file includes, compiled once. Source files still include what
// they use; this only saves parsing it again.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

// Instantiating what fmt::format_to needs takes 4 seconds, and no fmt header declares it as
// instantiated elsewhere: it is in base/format_to.cc.
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args,
                                                   fmt::detail::locale_ref);
