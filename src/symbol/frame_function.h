// Names for functions that have no symbol, and that only call frame information tells of:
// "cc1plus+0xd80100" is the one that begins at that address of cc1plus, as disassemblers show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

/// `object` is the short name; `start` an ELF address.
std::string frame_function_name(std::string_view object, uint64_t start);
/// The start in such a name; nullopt if it is not one.
std::optional<uint64_t> frame_function_start(std::string_view name);

}  // namespace sonde
