// The lines of system calls, in perf trace's form:
//
//        0.048 ( 0.002 ms): ls/25703 brk()                                        = 0x56298f0d0000
//        1.200 (         ): cat/25704 read(fd: 0, buf: 0x7f…, count: 131072)         ...
//        1.300 ( 0.004 ms): ls/25703 close(fd: 3)                                 = 0
//        1.200 (15.000 ms): cat/25704  ... [continued]: read())                   = 12
//
// A call's line is printed when it returns. If another thread enters a call in the meantime, the
// line is printed as far as it is known, and continued later. "?" is shown as the time of an entry
// that was not seen.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "trace/sources/trace_source.h"
#include "trace/sources/traced_tasks.h"
#include "trace/views/call_texts.h"

namespace sonde {

struct CallLineOptions {
  bool full_time = false;  // -T: the source's own timestamps
  bool show_comm = true;   // --no-comm
  bool show_task = true;   // events may come from several threads
  bool show_duration = true;
  bool show_timestamp = true;    // of calls and faults
  bool lines = true;             // false: -s, calls are only counted
  bool failed_only = false;      // --failure
  uint64_t min_duration_ns = 0;  // --duration
  uint32_t min_stack = 0;
  size_t result_column = 70;  // trace.args_alignment
  bool is_shown = false;      // by a terminal: names and arguments are made printable
};

class CallLines {
 public:
  CallLines(const CallLineOptions& options, CallTexts& texts) : options_(options), texts_(texts) {}

  /// Sets time 0 of the lines that follow; the first call wins. No effect with -T.
  void set_base(uint64_t time_ns) {
    if (!has_base_ && !options_.full_time) base_ns_ = time_ns;
    has_base_ = true;
  }

  /// An entry; appends the lines that it causes: the interrupted line of the previous thread, or
  /// that of a call that does not return.
  void enter(TracedTask& task, const SyscallEvent& call, std::string& out);
  /// A return. `chain` appends the lines of the call chain; it may be empty. True if a line was
  /// written.
  struct ChainOf {
    size_t depth = 0;  // frames
    std::function<void(std::string&)> append = {};
  };
  bool leave(TracedTask& task, const SyscallEvent& call, const ChainOf& chain, std::string& out);
  /// A call seen from entry to exit.
  bool whole(TracedTask& task, const SyscallEvent& call, const ChainOf& chain, std::string& out);
  /// Whether the thread is known to be in this very call: its entry was reported earlier.
  [[nodiscard]] static bool is_in(const TracedTask& task, const SyscallEvent& call) {
    return call.has_entry && task.entry_ns != 0 && task.entry_ns == call.entry_ns;
  }
  /// Cuts off the pending line because something else is about to be printed.
  void interrupt(std::string& out);
  /// The thread is gone: its line will not be continued.
  void forget(TracedTask& task, std::string& out);

  /// The text before "majfault": a fault has no known duration.
  void append_fault_head(const TracedTask& task, uint64_t time_ns, std::string& out) const {
    head(task, time_ns, true, 0, out);
  }
  void append_time(uint64_t time_ns, std::string& out) const;
  /// "( 0.004 ms): "; blanks if it is not known, nothing with --no-duration.
  void append_duration(std::optional<uint64_t> duration_ns, std::string& out) const;
  void append_task(const TracedTask& task, std::string& out) const;
  [[nodiscard]] uint64_t lines_made() const { return lines_made_; }
  void count_line() { ++lines_made_; }
  [[nodiscard]] bool shows_cut_lines() const {
    return options_.lines && !options_.failed_only && options_.min_duration_ns == 0 &&
           options_.min_stack == 0;
  }

 private:
  void head(const TracedTask& task, uint64_t entry_ns, bool has_duration, uint64_t duration_ns,
            std::string& out) const;
  void append_call(const SyscallEvent& call, std::string& out);
  void end_of_call(size_t text_size, const SyscallEvent& call, std::string& out);
  [[nodiscard]] bool passes(bool known, uint64_t duration_ns, const SyscallEvent& call,
                            const ChainOf& chain) const;
  void cut_off(TracedTask& task, std::string& out);

  CallLineOptions options_;
  CallTexts& texts_;
  TracedTask* current_ = nullptr;  // the thread that entered a call last
  uint64_t base_ns_ = 0;
  bool has_base_ = false;
  uint64_t lines_made_ = 0;
};

}  // namespace sonde
