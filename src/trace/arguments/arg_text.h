// The arguments and result of a system call as text, in one of two formats: perf's, with names
// and without zeros (the part in parentheses of `openat(dfd: CWD, filename: "/etc/passwd", flags:
// RDONLY|CLOEXEC)`), and strace's (`AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC`). Strings and
// structures are shown in strace's words if the program's memory was captured; otherwise the
// address is shown. Whatever the memory holds, the text is bounded and safe to print.
//
//   append_arguments(line, event, *call, fds, {});
//   append_result(line, event, *call, fds, {});
//   // "3", "-1 ENOENT (No such file or directory)", "?"
#pragma once

#include <cstdint>
#include <string>

#include "trace/arguments/btf_text.h"
#include "trace/arguments/fd_names.h"
#include "trace/arguments/syscall_table.h"
#include "trace/sources/trace_event.h"

namespace sonde {

enum class ArgFormat : uint8_t { kPerf, kStrace };

struct ArgStyle {
  ArgFormat format = ArgFormat::kPerf;
  bool show_zeros = false;     // perf's: also arguments that are zero (trace.show_zeros)
  bool show_names = true;      // perf's: "fd: " before each argument (trace.show_arg_names)
  bool show_prefixes = false;  // perf's: O_RDONLY for RDONLY (trace.show_prefix)
  uint16_t string_bytes = 32;  // of a string or buffer, before "..."
  bool by_types = false;       // perf's: as the kernel's types say, where they do (--force-btf)
};

/// The arguments, separated by ", ", without parentheses. Memory that the call writes is shown once
/// the call has returned. `types` is for styles that want them.
void append_arguments(std::string& out, const SyscallEvent& event, const Syscall& call,
                      FdNames& fds, const ArgStyle& style, BtfText* types = nullptr);

/// The result without the " = ": a number, an address, `-1 ENOENT (No such file or directory)`, or
/// "?" for a call that does not return. For an event that has its exit.
void append_result(std::string& out, const SyscallEvent& event, const Syscall& call, FdNames& fds,
                   const ArgStyle& style);

}  // namespace sonde
