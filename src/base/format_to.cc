// The single instantiation that every fmt::format_to calls (cmake/pch.h declares it).
#include <fmt/format.h>

template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::format_args, fmt::detail::locale_ref);
