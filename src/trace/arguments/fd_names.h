// What the file descriptors of traced processes refer to: paths, sockets, pipes. Tracked through
// the calls themselves (open, dup, close, fork, exec …), so that the name is right when the call is
// shown, however late that is. A descriptor that existed before the trace, or whose opening could
// not be seen, is looked up in an FdSource (/proc, live). Without a source there is no I/O, and
// only what was seen is known.
//
//   FdNames names(&proc);
//   names.name(pid, 3)            // "/etc/passwd"; empty: not known
//   names.follow(event, *call);   // after each event, once it has been shown
#pragma once

#include <cstdint>
#include <map>
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
};

class FdNames {
 public:
  /// `source` may be null, and must outlive this.
  explicit FdNames(FdSource* source = nullptr) : source_(source) {}

  /// What `fd` of process `pid` refers to; empty if not known. Valid until the next member call.
  [[nodiscard]] std::string_view name(int32_t pid, int32_t fd);
  /// The name of thread `tid`; empty if not known.
  [[nodiscard]] std::string_view comm(int32_t tid);
  /// Records the effects of a finished call. Events without an exit, and failed ones, have none.
  void follow(const SyscallEvent& event, const Syscall& call);
  /// A process's working directory when the trace begins: /proc may give a different one later.
  void begins_in(int32_t pid, std::string directory) {
    processes_[pid].directory = std::move(directory);
  }
  /// A file that the process already has open at that time.
  void has_open(int32_t pid, int32_t fd, std::string name) {
    processes_[pid].fds[fd] = {.name = std::move(name), .closes_on_exec = fd > kLastStandard};
  }
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
    bool closes_on_exec = false;
    bool is_asked = false;  // the source's answer, not something that was seen
  };
  struct Process {
    std::map<int32_t, Named> fds;
    std::string directory;
    uint64_t since_ns = 0;  // when it was first seen in a call; 0: not yet
  };
  Process& process_of(int32_t pid);
  friend struct FdFollower;

  FdSource* source_;
  Counts counts_;
  std::unordered_map<int32_t, Process> processes_;
  std::unordered_map<int32_t, std::string> comms_;
};

}  // namespace sonde
