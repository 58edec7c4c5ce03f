// Finds where an unwound chain continues in the kernel's chain.
//
// A sample may have both: registers with a copied part of the stack, and the user part that the
// kernel collected by frame pointers. Unwinding finds all functions but ends with the copy; frame
// pointers miss functions that don't keep one but reach further, as the kernel saw the whole stack.
//
//   unwound           f ← g ← h ← ✂ (the copy ends)
//   frame pointers    f ← h ← main ← _start
//   together          f ← g ← h ← main ← _start
#pragma once

#include <cstdint>
#include <span>

#include "abi/regs.h"
#include "perfdata/records/sample.h"

namespace sonde {

/// The addresses of `frame_pointers` (leaf first, as the kernel wrote them) that were read above
/// the stack pointer of the outermost unwound frame: they return to its callers. To find them, the
/// frame links in the copy are followed; if these are not those that the kernel followed, the
/// result is empty.
[[nodiscard]] std::span<const uint64_t> rest_of_chain(const Sample& sample, abi::Arch arch,
                                                      uint64_t last_stack_pointer,
                                                      std::span<const uint64_t> frame_pointers);

/// The same for a chain that was walked while recording, and whose addresses are those of calls, as
/// the unwound ones are (record --call-graph bpf,raw): what follows in `walked` when it begins like
/// `unwound`; otherwise nothing. Interpreted functions may stand in place of native frames.
[[nodiscard]] std::span<const uint64_t> rest_of_walked(std::span<const uint64_t> unwound,
                                                       std::span<const uint64_t> walked);

}  // namespace sonde
