// The records of bpf/programs/syscall_trace.h as values: a call with the memory that was read for
// it.
//
//   SyscallEvent call;
//   if (decode_call_record(bytes, abis, call, memory)) …     call.memory is `memory`
//
// Nothing is copied: the call's memory points into `bytes`. The bytes are untrusted: a record that
// does not fit its own lengths is rejected.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "trace/sources/trace_event.h"

namespace sonde {

/// The machine's native calls, and those of its 32-bit programs.
struct SyscallAbis {
  SyscallAbi native = SyscallAbi::kX86_64;
  SyscallAbi compat = SyscallAbi::kI386;
};
/// Of the machine we run on.
[[nodiscard]] SyscallAbis host_syscall_abis();

/// When a record was written: CLOCK_MONOTONIC. False if it is too short to be a record.
[[nodiscard]] bool time_of_record(Bytes record, uint64_t& time_ns);

/// `call` and `memory` are overwritten and their storage reused. False if the record is malformed.
[[nodiscard]] bool decode_call_record(Bytes record, const SyscallAbis& abis, SyscallEvent& call,
                                      std::vector<ArgMemory>& memory);

}  // namespace sonde
