// Samples whose stack the recorder itself has unwound (record --call-graph dwarf), as they are
// stored: the kernel's record with the callers added to its call chain, and without the registers
// and the stack copy that they were found with.
//
//   CALLCHAIN    KERNEL k1 k2          →   KERNEL k1 k2 USER u1 u2 u3
//   REGS_USER    abi 2, 17 registers   →   abi 0
//   STACK_USER   size 8192, the copy   →   size 0; or, if the chain is incomplete, size 8:
//                                          one word that says why, and a dynamic size of 0
//
// To a reader this is an ordinary sample: perf finds a call chain and no stack to unwind. User
// addresses are those of the calls (return address minus one), as perf makes them from a stack
// copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfdata/records/sample.h"

namespace sonde {

/// Appends the record of an unwound sample to `out`. `sample` is the decoded record; it must have
/// the host's byte order, and its event call chains, registers and stack copies. `keep_registers`:
/// the user asked for them separately. Returns false, and appends nothing, if the chain does not
/// fit into a record.
bool append_unwound(const RecordView& record, const Sample& sample,
                    std::span<const uint64_t> user_chain, ChainCut cut, bool keep_registers,
                    std::vector<std::byte>& out);

/// Appends the record with the user chain, its registers and its stack copy. Returns false, and
/// appends nothing, if that does not fit into a record.
bool append_with_chain(const RecordView& record, const Sample& sample,
                       std::span<const uint64_t> user_chain, std::vector<std::byte>& out);

/// Appends the record with its stack copy, but without the user addresses in the chain, which the
/// kernel found by frame pointers: readers replace them with what they unwind.
void append_without_user_chain(const RecordView& record, const Sample& sample,
                               std::vector<std::byte>& out);

/// Appends the record with `stack`, a copy of a multiple of eight bytes from the stack pointer on,
/// in place of its own. Returns false, and appends nothing, if that does not fit into a record.
bool append_with_stack(const RecordView& record, const Sample& sample, Bytes stack,
                       std::vector<std::byte>& out);

/// The user part of a call chain as the kernel wrote it: the words after the USER marker.
[[nodiscard]] WordView user_part(const WordView& chain);

}  // namespace sonde
