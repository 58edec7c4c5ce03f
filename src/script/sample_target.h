// The place of an address that a sample carries besides its own: the memory that a page fault was
// for, the end of a branch.
#pragma once

#include "replay/session.h"

namespace sonde {

/// Whether samples of an event have an `addr` that is a place in an object: page faults, branches.
[[nodiscard]] bool has_target(const abi::EventAttr& attr);
/// The hardware reports every single branch (BTS), or the event looks as if it did.
[[nodiscard]] bool is_branch_trace(const abi::EventAttr& attr);

/// The frame of such an address. One of the kernel's samples may be in user memory.
[[nodiscard]] Frame target_frame(const Session& session, uint32_t pid, uint64_t time,
                                 uint64_t address, uint16_t cpu_mode);

}  // namespace sonde
