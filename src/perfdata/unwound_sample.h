// Samples whose stack the recorder itself has unwound (record --call-graph dwarf), as they are
// stored: the kernel's record with the callers in its call chain, without the registers and the
// copy of the stack that they were found by.
//
//   CALLCHAIN    KERNEL k1 k2          →   KERNEL k1 k2 USER u1 u2 u3
//   REGS_USER    abi 2, 17 registers   →   abi 0
//   STACK_USER   size 8192, the copy   →   size 0; or, where the chain is not whole, size 8: one
//   word
//                                          that says why, and a dynamic size of 0
//
// That is a sample like any other for whoever reads it: perf finds a call chain and no stack to
// unwind. User addresses are those of the calls (return address less one), as perf makes them of a
// copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfdata/sample.h"

namespace sonde {

/// Appends the record of an unwound sample to `out`. `sample` is the record, decoded; it must be of
/// the host's byte order and hold a call chain, registers and a copy of the stack.
/// `keep_registers`: they were asked for by themselves. False, and nothing appended, where the
/// chain doesn't fit into a record.
bool append_unwound(const RecordView& record, const Sample& sample,
                    std::span<const uint64_t> user_chain, ChainCut cut, bool keep_registers,
                    std::vector<std::byte>& out);

/// Appends the record with its copy, but without the user addresses of the chain, which the kernel
/// found by frame pointers: readers put what they unwind in their place.
void append_without_user_chain(const RecordView& record, const Sample& sample,
                               std::vector<std::byte>& out);

/// The user part of a call chain as the kernel wrote it: the words behind the USER marker.
[[nodiscard]] WordView user_part(const WordView& chain);

}  // namespace sonde
