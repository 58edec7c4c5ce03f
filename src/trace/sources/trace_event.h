// What traced programs did, as one stream: whatever the source (BPF programs, tracepoints of a live
// kernel, a recording), `trace` sees system calls as values of these types.
//
//   entry ────────────────► exit     a call that returned at once: one event with both times
//   entry … (blocked) … exit         one that blocks comes twice: with its entry, later
//                                    with its exit (and its entry)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace sonde {

/// The table that a call's number belongs to: 32-bit programs have other numbers on the same
/// kernel.
enum class SyscallAbi : uint8_t { kX86_64, kI386, kArm64, kArm };

/// A piece of the program's memory that an argument pointed to, as of entry or exit. Untrusted:
/// whatever the program had there, not necessarily what the call's type promises.
struct ArgMemory {
  uint8_t arg = 0;  // index of the argument, 0 to 5
  uint8_t part =
      0;  // 0: what the argument points to; n: what its element n - 1 points to (iovec, argv)
  bool at_exit = false;   // what the kernel wrote, not what the program gave
  bool is_fault = false;  // nothing could be read at `address`
  uint64_t address = 0;
  uint32_t wanted_bytes =
      0;  // bytes there were to read; if more than bytes.size(), cut at the bound
  Bytes bytes = {};
};

/// What a descriptor argument referred to when the call began; empty: something that has no name,
/// or whose name is not known.
struct ArgFile {
  uint8_t arg = 0;  // index of the argument, 0 to 5
  std::string_view name = {};
};

struct SyscallEvent {
  SyscallAbi abi = SyscallAbi::kX86_64;
  uint32_t number = 0;
  int32_t pid = 0, tid = 0;
  int32_t cpu = -1;
  uint64_t entry_ns = 0, exit_ns = 0;  // of the source's clock; valid as the two flags say
  bool has_entry = false, has_exit = false;
  std::array<uint64_t, 6> args = {};       // with has_entry
  int64_t result = 0;                      // with has_exit: -4095 to -1 are errors
  std::string_view comm = {};              // empty: not known to the source
  std::span<const ArgMemory> memory = {};  // valid until the next event is requested
  std::span<const ArgFile> files = {};     // the same; empty: the source does not know files
};

}  // namespace sonde
