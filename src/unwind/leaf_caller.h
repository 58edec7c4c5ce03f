// Finds the caller of a function that has not set up a frame yet, or never does.
//
// A frame-pointer chain is read from the frame pointer upwards. If the sampled function has not
// stored its return address, the first one in memory is that of its caller's caller: the caller
// itself is missing. On arm64 the return address is then still in the link register, so recordings
// of such chains carry that register; the call frame information says whether it holds the return
// address.
#pragma once

#include <cstdint>
#include <optional>

#include "unwind/stack_unwinder.h"

namespace sonde {

/// The address of the call (return address minus one) that entered the code at `leaf`, if it is in
/// the link register; nothing if it has been stored, or if nothing is known.
[[nodiscard]] std::optional<uint64_t> caller_in_link_register(const UnwindPlace& leaf,
                                                              uint64_t link_register);

}  // namespace sonde
