// The names of calls, and their arguments and results as text: combines the syscall table, the
// argument printers and the names of file descriptors into what lines need.
#pragma once

#include <string>
#include <string_view>

#include "base/sink.h"
#include "trace/arguments/arg_text.h"
#include "trace/arguments/fd_names.h"
#include "trace/sources/trace_event.h"

namespace sonde {

class CallTexts {
 public:
  /// `source` knows the descriptors of running processes; null for recordings. Must outlive this.
  /// `types` are those of the kernel that was traced.
  explicit CallTexts(const ArgStyle& style = {}, FdSource* source = nullptr,
                     BtfText types = BtfText())
      : style_(style), fds_(source), types_(std::move(types)) {}

  /// The call's name; "sys_4096" if it is not in the table. Valid until the next member call.
  std::string_view name(SyscallAbi abi, uint32_t number);
  /// Appends "fd: 3, buf: 0x7ffc…" for an event with its entry.
  void append_arguments(const SyscallEvent& event, std::string& out);
  /// Appends "3", "0x7f…" or "-1 ENOENT (No such file or directory)" for an event with its exit.
  void append_result(const SyscallEvent& event, std::string& out);
  /// Updates descriptor names from a finished call: an event with entry and exit.
  void follow(const SyscallEvent& event);
  /// A process's working directory when the trace begins, and the files it has open.
  void begins_in(int32_t pid, std::string directory) { fds_.begins_in(pid, std::move(directory)); }
  void has_open(int32_t pid, int32_t fd, std::string name, uint64_t since_ns) {
    fds_.has_open(pid, fd, std::move(name), since_ns);
  }
  /// Whether all calls are followed that tell what becomes of descriptors (FdNames::set_sees_all).
  void set_sees_all(bool sees_all) { fds_.set_sees_all(sees_all); }
  /// Events were lost.
  void lost() { fds_.lost(); }
  /// A thread has ended; if `pid` == `tid`, the whole process.
  void ended(int32_t pid, int32_t tid) { fds_.ended(pid, tid); }
  [[nodiscard]] BtfText& types() { return types_; }
  /// Where the names of descriptors came from.
  [[nodiscard]] const FdNames::Counts& descriptor_counts() const { return fds_.counts(); }
  /// "ENOENT"; "ERRNO_600" if there is no such errno.
  static std::string error_name(int number);
  /// exit and exit_group.
  static bool never_returns(SyscallAbi abi, uint32_t number);

 private:
  ArgStyle style_;
  FdNames fds_;
  BtfText types_;
  std::string unknown_;
};

/// --tool_stats, in perf's words: "vfs_getname" are names that calls brought, "proc_getname" those
/// that were looked up in /proc.
void write_tool_stats(const FdNames::Counts& counts, Sink& out);

}  // namespace sonde
