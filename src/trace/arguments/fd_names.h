// What the file descriptors of traced processes refer to: paths, sockets, pipes. A wrong name is
// worse than none, so there are two ways to one:
//
//   - The source of the call read it when the call began (SyscallEvent::files): BPF programs do.
//   - It was tracked through the calls themselves (open, dup, close, fork, exec …). That holds only
//     if all calls are seen that close or replace descriptors (sees_all). What existed before the
//     trace, or whose opening did not say what it opened, is looked up in an FdSource (/proc,
//     live). The process is ahead of what is shown, so the answer holds for calls that begin later:
//
//         read(3)      close(3)    open: 3     read(3)
//     ────┴────────────┴───────────┴───────────┴──────►
//                                        ↑ /proc is asked because of the first read
//
//   FdNames names(&proc);
//   names.name(event, 0, 3)       // "/etc/passwd"; empty: not known
//   names.follow(event, *call);   // after each event, once it has been shown
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/arguments/syscall_table.h"
#include "trace/sources/trace_event.h"

namespace sonde {

/// Queries the traced machine while it runs. Empty results: not known.
class FdSource {
 public:
  virtual ~FdSource() = default;
  virtual std::string fd(int32_t pid, int32_t fd) = 0;
  virtual std::string working_directory(int32_t pid) = 0;
  virtual std::string comm(int32_t tid) = 0;
  /// On the clock of the calls.
  virtual uint64_t now_ns() = 0;
};

/// The calls without which a trace does not know what becomes of descriptors and directories: those
/// that close or replace them, or after which others do.
[[nodiscard]] std::span<const std::string_view> calls_that_replace_descriptors();

class FdNames {
 public:
  /// `source` may be null, and must outlive this.
  explicit FdNames(FdSource* source = nullptr) : source_(source) {}

  /// Whether all of calls_that_replace_descriptors() are seen of each traced process, of all of its
  /// threads and from its first event on: otherwise only what the source of a call read is known.
  void set_sees_all(bool sees_all) { sees_all_ = sees_all; }
  /// What `fd`, the argument in register `at`, referred to when the call began; empty if not known.
  /// Valid until the next member call, or the next event.
  [[nodiscard]] std::string_view name(const SyscallEvent& event, size_t at, int32_t fd);
  /// The same from the calls that were seen, for a time.
  [[nodiscard]] std::string_view name(int32_t pid, int32_t fd, uint64_t at_ns = UINT64_MAX);
  /// The name of thread `tid`; empty if not known.
  [[nodiscard]] std::string_view comm(int32_t tid);
  /// Records the effects of a finished call. Events without an exit, and failed ones, have none.
  void follow(const SyscallEvent& event, const Syscall& call);
  /// A process's working directory when the trace begins: /proc may give a different one later.
  void begins_in(int32_t pid, std::string directory) {
    processes_[pid].directory = std::move(directory);
  }
  /// A file that the process already has open, if it is asked for at `since_ns`.
  void has_open(int32_t pid, int32_t fd, std::string name, uint64_t since_ns = 0) {
    processes_[pid].fds[fd] = {
        .name = std::move(name), .since_ns = since_ns, .closes_on_exec = fd > kLastStandard};
  }
  /// Events were lost: any descriptor may have become another.
  void lost();
  /// How many descriptors got their names from calls, and how many were looked up in the source.
  struct Counts {
    uint64_t seen = 0, asked = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// A thread has ended; if `pid` == `tid`, the whole process.
  void ended(int32_t pid, int32_t tid);

 private:
  static constexpr int32_t kLastStandard = 2;  // standard error
  struct Named {
    std::string name;
    uint64_t since_ns = 0;  // it holds for calls that begin later
    bool closes_on_exec = false;
    bool is_asked = false;  // the source's answer, not something that was seen
  };
  struct Process {
    std::map<int32_t, Named> fds;
    std::string directory;
    uint64_t since_ns = 0;  // when it was first seen in a call; 0: not yet
    // Another process changes its descriptors, or the kernel does on its behalf (io_uring).
    bool is_changed_by_others = false;
  };
  Process& process_of(int32_t pid);
  friend struct FdFollower;

  FdSource* source_;
  bool sees_all_ = true;
  Counts counts_;
  std::unordered_map<int32_t, Process> processes_;
  std::unordered_map<int32_t, std::string> comms_;
};

}  // namespace sonde
