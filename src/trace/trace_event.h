// What traced programs did, as one stream: whatever it was read from (BPF programs, tracepoints of
// a live kernel, a recording), `trace` sees system calls as values of these types.
//
//   entry ────────────────► exit             a call that returned at once comes as one SyscallEvent
//   with both times; entry … (blocked) … exit                 one that lasts comes twice: with its
//   entry, and later with its exit (and its entry)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace sonde {

/// Which table a call's number is of: a 32-bit program has other numbers on the same kernel.
enum class SyscallAbi : uint8_t { kX86_64, kI386, kArm64, kArm };

/// A piece of the program's memory that an argument led to, as it was at entry or at exit.
/// Untrusted: whatever the program had there, and not necessarily what the call's type promises.
struct ArgMemory {
  uint8_t arg = 0;  // which argument, 0 to 5
  uint8_t part =
      0;  // 0: what the argument points to; n: what element n - 1 of that points to (iovec, argv)
  bool at_exit = false;   // what the kernel wrote, not what the program gave
  bool is_fault = false;  // nothing could be read at `address`
  uint64_t address = 0;
  uint32_t wanted_bytes =
      0;  // how many there are to read; more than bytes.size(): cut at the bound
  Bytes bytes = {};
};

struct SyscallEvent {
  SyscallAbi abi = SyscallAbi::kX86_64;
  uint32_t number = 0;
  int32_t pid = 0, tid = 0;
  int32_t cpu = -1;
  uint64_t entry_ns = 0, exit_ns = 0;  // of the source's clock; meaningful as the two flags say
  bool has_entry = false, has_exit = false;
  std::array<uint64_t, 6> args = {};       // with has_entry
  int64_t result = 0;                      // with has_exit: -4095 to -1 are errors
  std::string_view comm = {};              // empty: the source does not say
  std::span<const ArgMemory> memory = {};  // holds until the next event is asked for
};

}  // namespace sonde
