// What calls are called, and what their arguments and results are as text: the table of calls, the
// printers of arguments and the names of file descriptors, together as lines need them.
#pragma once

#include <string>
#include <string_view>

#include "trace/arg_text.h"
#include "trace/fd_names.h"
#include "trace/trace_event.h"

namespace sonde {

class CallTexts {
 public:
  /// `source` knows descriptors of running processes; null for recordings. It outlives this.
  explicit CallTexts(const ArgStyle& style = {}, FdSource* source = nullptr)
      : style_(style), fds_(source) {}

  /// The call's name; "sys_4096" where the table has none. Holds until the next call of a member.
  std::string_view name(SyscallAbi abi, uint32_t number);
  /// Appends "fd: 3, buf: 0x7ffc…" of an event with its entry.
  void append_arguments(const SyscallEvent& event, std::string& out);
  /// Appends "3", "0x7f…" or "-1 ENOENT (No such file or directory)" of an event with its exit.
  void append_result(const SyscallEvent& event, std::string& out);
  /// Descriptors are named by what a finished call did, an event with entry and exit.
  void follow(const SyscallEvent& event);
  /// Where a process stands when the trace begins, and what it has open.
  void begins_in(int32_t pid, std::string directory) { fds_.begins_in(pid, std::move(directory)); }
  void has_open(int32_t pid, int32_t fd, std::string name) {
    fds_.has_open(pid, fd, std::move(name));
  }
  /// "ENOENT"; "ERRNO_600" where there is none of that number.
  static std::string error_name(int number);
  /// exit and exit_group.
  static bool never_returns(SyscallAbi abi, uint32_t number);

 private:
  ArgStyle style_;
  FdNames fds_;
  std::string unknown_;
};

}  // namespace sonde
