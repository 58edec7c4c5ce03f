// Standard headers that nearly every file includes, compiled once. Source files still name what they use;
// this only saves parsing it again.
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

// What fmt::format_to needs is 4 seconds of compiling, and no header says that it is instantiated elsewhere: it is in
// base/format_to.cc.
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args,
                                                   fmt::detail::locale_ref);
