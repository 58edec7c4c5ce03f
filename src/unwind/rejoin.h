// Where a chain that was unwound goes on in the kernel's.
//
// A sample may have both: registers with a copied piece of stack, and the user part that the kernel
// made by frame pointers. Unwinding knows all functions but ends with the copy; frame pointers miss
// functions that keep none but lead on, as the kernel saw the whole stack.
//
//   unwound           f ← g ← h ← ✂ (the copy ends)
//   frame pointers    f ← h ← main ← _start
//   together          f ← g ← h ← main ← _start
#pragma once

#include <cstdint>
#include <span>

#include "abi/regs.h"
#include "perfdata/sample.h"

namespace sonde {

/// The addresses of `frame_pointers` (leaf first, as the kernel wrote them) that were read above
/// the stack pointer of the outermost unwound frame: they return to callers of it. The links that
/// lie in the copy are followed to see which these are; where they are not those that the kernel
/// followed, nothing fits.
[[nodiscard]] std::span<const uint64_t> rest_of_chain(const Sample& sample, abi::Arch arch,
                                                      uint64_t last_stack_pointer,
                                                      std::span<const uint64_t> frame_pointers);

}  // namespace sonde
