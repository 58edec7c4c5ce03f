// Every system call: its numbers in the four tables, the names and types of its arguments, its
// result, its groups, and the memory that makes its arguments readable. All from syscall_args.def,
// one line per call.
//
//   const Syscall* call = SyscallTable::get().find(SyscallAbi::kX86_64, 257);  // openat
//   call->args[1].name                                                         // "filename"
//   capture_rules(*call, abi, limits)  // argument 1: a string, at entry
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/sources/trace_event.h"

namespace sonde {

/// How to read an argument's value: one line of arg_types.def and one printer each.
enum class ArgType : uint8_t {
#define ARG_TYPE(name, bytes, bytes_32) k_##name,
#include "trace/arguments/arg_types.def"
#undef ARG_TYPE
};

/// Names of flags or enumerators: one entry of arg_names.def.
enum class WordSet : uint8_t {
  k_none,
#define WORDS(name, prefix, ...) k_##name,
#include "trace/arguments/arg_names.def"
#undef WORDS
};

/// k_ready: the number of ready descriptors; 0 is a timeout.
enum class ResultType : uint8_t {
  k_number,
  k_fd,
  k_bytes,
  k_address,
  k_pid,
  k_mode,
  k_nothing,
  k_fcntl,
  k_ready
};

/// Bits: a call can be in several groups. %file and file are the same.
enum SyscallGroup : uint32_t {
#define GROUP(name, bit) k_group_##name = 1U << (bit),
#include "trace/arguments/syscall_groups.def"
#undef GROUP
};

/// What an argument points to.
enum class MemoryShape : uint8_t {
  kNone,
  kFixed,        // `element_bytes`
  kString,       // until a NUL
  kCounted,      // `element_bytes` × the argument `length_arg` (a buffer, an array)
  kResult,       // `element_bytes` × what the call returned
  kPointed,      // as many bytes as the int at `length_arg` says (an address from the kernel)
  kStringArray,  // pointers up to a null pointer (argv), each to a string
  kIovec,    // `length_arg` × struct iovec, each to a buffer; at exit no more bytes than the result
             // says
  kMsghdr,   // struct msghdr and what it leads to (MessagePart); at exit no more data than the
             // result says
  kMmsghdr,  // the first of `length_arg` × struct mmsghdr, as kMsghdr
};

/// ArgMemory::part of what a message leads to; part 0 is the struct msghdr itself. (For string
/// arrays and iovec, part 0 is the array, and part n what element n - 1 points to.)
enum MessagePart : uint8_t {
  kMessageName = 1,
  kMessageControl = 2,
  kMessageIovec = 3,
  kMessageData = 4
};

struct SyscallArg {
  std::string_view name = {};  // perf's name
  ArgType type = ArgType::k_hex;
  WordSet words = WordSet::k_none;
  MemoryShape shape = MemoryShape::kNone;
  bool at_entry = false, at_exit = false;  // when its memory should be read
  uint8_t length_arg = 0;                  // an index into `args`
};

struct Syscall {
  std::string_view name;         // "fstat": as programs, perf and strace call it
  std::string_view kernel_name;  // "newfstat": the kernel's tracepoints' name
  ResultType result = ResultType::k_number;
  uint32_t groups = 0;
  uint8_t arg_count = 0;
  std::array<SyscallArg, 6> args = {};
  std::array<int, 4> numbers = {};  // by SyscallAbi; -1: not in that table

  [[nodiscard]] std::span<const SyscallArg> arguments() const { return {args.data(), arg_count}; }
  [[nodiscard]] int number(SyscallAbi abi) const { return numbers[static_cast<size_t>(abi)]; }
};

/// A 32-bit program: pointers and longs have 4 bytes, and a 64-bit argument takes two registers.
[[nodiscard]] constexpr bool is_32_bit(SyscallAbi abi) {
  return abi == SyscallAbi::kI386 || abi == SyscallAbi::kArm;
}
/// Which of SyscallEvent::args holds argument `arg`: the same index, except after 64-bit arguments
/// of 32-bit programs. 6 or more: none does.
[[nodiscard]] size_t register_of(const Syscall& call, size_t arg, SyscallAbi abi);

/// A bit for each register (as of register_of()) that holds a descriptor whose name is shown.
[[nodiscard]] uint8_t descriptor_registers(const Syscall& call, SyscallAbi abi);

class SyscallTable {
 public:
  /// The one table; built on first use and immutable.
  [[nodiscard]] static const SyscallTable& get();

  [[nodiscard]] std::span<const Syscall> all() const { return calls_; }
  /// Null if the ABI has no such call.
  [[nodiscard]] const Syscall* find(SyscallAbi abi, uint32_t number) const;
  /// By the name that programs or the kernel's tracepoints use. Null if there is none.
  [[nodiscard]] const Syscall* find(std::string_view name) const;
  /// The calls that `pattern` selects in -e: a name, a glob over names, or a group ("file",
  /// "%file"). Only calls that `abi` has. A name takes precedence over a group of the same name
  /// ("stat", "ipc"); with %, only groups match. Empty if nothing matches.
  [[nodiscard]] std::vector<const Syscall*> match(std::string_view pattern, SyscallAbi abi) const;
  /// The group names, for messages.
  [[nodiscard]] static std::vector<std::string_view> group_names();

 private:
  SyscallTable();
  std::vector<Syscall> calls_;
  std::array<std::vector<uint16_t>, 4> by_number_;  // 1 + index into calls_; 0: none
};

/// Bounds on what is read from a program: in bytes, except for the counts of elements.
struct CaptureLimits {
  uint16_t string_bytes =
      32;  // of buffers and strings, as strace's -s; does not apply to file names
  uint16_t path_bytes = 4096;    // PATH_MAX
  uint16_t array_elements = 32;  // of arrays of structures
  uint16_t strings = 32;         // of argv
  uint16_t variables = 255;      // of envp, which are only counted
  uint16_t buffers = 8;          // of iovec
};

/// One piece of memory to read for a call, ready for a BPF map: it contains no index into the
/// table, and arguments are registers (SyscallEvent::args).
struct CaptureRule {
  uint8_t arg = 0;       // the register with the address
  bool at_exit = false;  // read when the call returns, and only if it did not fail
  MemoryShape shape = MemoryShape::kFixed;
  uint8_t length_arg = 0;  // the register with the count, or the length's address (kPointed)
  uint8_t pointer_bytes =
      8;                     // of the program: size of addresses in arrays, and half a struct iovec
  uint8_t max_elements = 0;  // kStringArray, kIovec, kMsghdr: how many to follow
  uint16_t element_bytes = 1;  // the whole size for kFixed
  // Maximum bytes per piece; for kStringArray, kIovec and kMsghdr, of what the array points to: 0
  // means that only the array itself is read (envp).
  uint16_t max_bytes = 0;
};

/// What to read for `call`: in argument order, reads at entry before reads at exit.
[[nodiscard]] std::vector<CaptureRule> capture_rules(const Syscall& call, SyscallAbi abi,
                                                     const CaptureLimits& limits);

}  // namespace sonde
