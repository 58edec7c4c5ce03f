// Every system call: its numbers in the four tables, its arguments with their names and types, what
// it gives back, the groups that it is in, and which memory of the program makes its arguments
// readable. One table, syscall_args.def: a line per call.
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

#include "trace/trace_event.h"

namespace sonde {

/// How an argument's value is to be read: one line of arg_types.def, one printer each.
enum class ArgType : uint8_t {
#define ARG_TYPE(name, bytes, bytes_32) k_##name,
#include "trace/arg_types.def"
#undef ARG_TYPE
};

/// Names of flags or of enumerators: one entry of arg_words.def.
enum class WordSet : uint8_t {
  k_none,
#define WORDS(name, prefix, ...) k_##name,
#include "trace/arg_words.def"
#undef WORDS
};

/// k_ready: how many descriptors are ready; 0 is a timeout.
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

/// Bits: a call can be in several. %file and file are the same.
enum SyscallGroup : uint32_t {
#define GROUP(name, bit) k_group_##name = 1U << (bit),
#include "trace/syscall_groups.def"
#undef GROUP
};

/// What an argument points to.
enum class MemoryShape : uint8_t {
  kNone,
  kFixed,        // `element_bytes`
  kString,       // until a NUL
  kCounted,      // `element_bytes` × the argument `length_arg` (a buffer, an array)
  kResult,       // `element_bytes` × what the call returned
  kPointed,      // as many bytes as the int says that `length_arg` points to (an address that the
                 // kernel gives)
  kStringArray,  // pointers until a null pointer (argv), each to a string
  kIovec,  // `length_arg` × struct iovec, each to a buffer; at exit no more of them than the result
           // says
  kMsghdr,   // struct msghdr, and what it leads to (MessagePart); at exit no more data than the
             // result says
  kMmsghdr,  // the first of `length_arg` × struct mmsghdr, as kMsghdr
};

/// ArgMemory::part of what a message leads to; part 0 is the struct msghdr itself. (Of arrays of
/// strings and of iovec, part 0 is the array, part n what element n - 1 points to.)
enum MessagePart : uint8_t {
  kMessageName = 1,
  kMessageControl = 2,
  kMessageIovec = 3,
  kMessageData = 4
};

struct SyscallArg {
  std::string_view name = {};  // as perf has it
  ArgType type = ArgType::k_hex;
  WordSet words = WordSet::k_none;
  MemoryShape shape = MemoryShape::kNone;
  bool at_entry = false, at_exit = false;  // when its memory is worth reading
  uint8_t length_arg = 0;                  // an index into `args`
};

struct Syscall {
  std::string_view name;         // "fstat": as programs, perf and strace call it
  std::string_view kernel_name;  // "newfstat": as the kernel's tracepoints do
  ResultType result = ResultType::k_number;
  uint32_t groups = 0;
  uint8_t arg_count = 0;
  std::array<SyscallArg, 6> args = {};
  std::array<int, 4> numbers = {};  // by SyscallAbi; -1: it has none there

  [[nodiscard]] std::span<const SyscallArg> arguments() const { return {args.data(), arg_count}; }
  [[nodiscard]] int number(SyscallAbi abi) const { return numbers[static_cast<size_t>(abi)]; }
};

/// A 32-bit program: its pointers and longs have 4 bytes, and a 64-bit argument takes two
/// registers.
[[nodiscard]] constexpr bool is_32_bit(SyscallAbi abi) {
  return abi == SyscallAbi::kI386 || abi == SyscallAbi::kArm;
}
/// Which of SyscallEvent::args holds argument `arg`: the same one, but behind 64-bit arguments of
/// 32-bit programs. May be 6 or more, then there is none.
[[nodiscard]] size_t register_of(const Syscall& call, size_t arg, SyscallAbi abi);

class SyscallTable {
 public:
  /// The one table; made when it is first asked for, and the same for ever.
  [[nodiscard]] static const SyscallTable& get();

  [[nodiscard]] std::span<const Syscall> all() const { return calls_; }
  /// Null: the architecture has no such call.
  [[nodiscard]] const Syscall* find(SyscallAbi abi, uint32_t number) const;
  /// By the name that programs use, or the kernel's tracepoints. Null: there is none.
  [[nodiscard]] const Syscall* find(std::string_view name) const;
  /// What `pattern` means in -e: a name, a glob over names, or a group ("file", "%file"). Only
  /// calls that `abi` has. A name is preferred to a group of the same name ("stat", "ipc"); with %
  /// only groups are meant. Empty: it means nothing.
  [[nodiscard]] std::vector<const Syscall*> match(std::string_view pattern, SyscallAbi abi) const;
  /// The names of the groups, for messages.
  [[nodiscard]] static std::vector<std::string_view> group_names();

 private:
  SyscallTable();
  std::vector<Syscall> calls_;
  std::array<std::vector<uint16_t>, 4> by_number_;  // 1 + index into calls_; 0: none
};

/// The bounds of what is read from a program: each in bytes, but the counts of elements.
struct CaptureLimits {
  uint16_t string_bytes =
      32;  // of buffers and texts, as strace's -s; names of files are not cut by it
  uint16_t path_bytes = 4096;    // PATH_MAX
  uint16_t array_elements = 32;  // of arrays of structures
  uint16_t strings = 32;         // of argv
  uint16_t variables = 255;      // of envp, which are counted only
  uint16_t buffers = 8;          // of iovec
};

/// One piece of memory that a call wants read, ready for a BPF map: no index into the table is left
/// in it, arguments are registers (SyscallEvent::args).
struct CaptureRule {
  uint8_t arg = 0;       // the register with the address
  bool at_exit = false;  // read when the call returns, and only if it did not fail
  MemoryShape shape = MemoryShape::kFixed;
  uint8_t length_arg = 0;  // the register with the count, or with the length's address (kPointed)
  uint8_t pointer_bytes =
      8;  // of the program: of the addresses in arrays, and half of a struct iovec
  uint8_t max_elements = 0;    // kStringArray, kIovec, kMsghdr: how many to follow
  uint16_t element_bytes = 1;  // of kFixed the whole
  // No more than this, of each piece; of kStringArray, kIovec, kMsghdr of what the array leads to,
  // and 0: only the array itself is wanted (envp).
  uint16_t max_bytes = 0;
};

/// What to read for `call`; in the order of arguments, those at entry before those at exit.
[[nodiscard]] std::vector<CaptureRule> capture_rules(const Syscall& call, SyscallAbi abi,
                                                     const CaptureLimits& limits);

}  // namespace sonde
