// Whether an address can be one that a call returns to.
//
// Where a function keeps no frame pointer, the kernel takes for a return address whatever the
// register leads to: data, or the middle of other code. What really is one has a call in front of
// it, or is a place that system code puts on stacks itself.
#pragma once

#include "abi/regs.h"
#include "base/bytes.h"

namespace sonde {

/// The bytes around an address that is to be judged.
inline constexpr size_t kCallBytes = 7;     // in front of it: the longest call of x86-64
inline constexpr size_t kReturnBytes = 12;  // from it on

/// `before` ends, and `after` begins, at the address; both may be shorter where code begins or
/// ends. True for processors whose instructions are not known here.
[[nodiscard]] bool can_return_to(abi::Arch arch, Bytes before, Bytes after);

}  // namespace sonde
