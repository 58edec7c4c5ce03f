// The caller of a function that has no frame yet, or never has one.
//
// A chain of frame pointers is read from the frame pointer up. Where the sampled function has not
// stored its return address, that of its caller's caller is the first one that stands in memory:
// the caller itself is missing. On arm64 the return address is then still in the link register,
// which is why recordings of such chains carry it; the call frame information says whether it is.
#pragma once

#include <cstdint>
#include <optional>

#include "unwind/stack_unwinder.h"

namespace sonde {

/// The address of the call (the return address less one) that entered the code at `leaf`, where
/// that stands in the link register; nothing where it has been stored, or nothing is known.
[[nodiscard]] std::optional<uint64_t> caller_in_link_register(const UnwindPlace& leaf,
                                                              uint64_t link_register);

}  // namespace sonde
