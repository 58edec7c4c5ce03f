// Stepper: runs a command instruction by instruction with ptrace, follows its threads and children,
// and turns each step into its place in a trace.
//
//   Stepper stepper(options, recording, signals);
//   TRY(stepper.seize(pid));       // held before its exec
//   ... the command is released ...
//   StepEnd end = TRY(stepper.run());
//
// A stop says where a thread is; what the instruction before was says how it came there
// (instruction_kind.h). Whatever does not fit, such as a fault, is in the trace as an interruption.
// System calls run at full speed. The program sees nothing of all this except time: signals, group
// stops, exit statuses and exec are as without a tracer. Exceptions: SIGTRAP must not be blocked or
// ignored while an instruction is stepped, so the kernel undoes that; and a step over `syscall`
// leaves the trap flag in r11, where programs must not look.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "capture/control/signal_queue.h"
#include "stepping/address_filter.h"
#include "stepping/code_image.h"
#include "stepping/pt_stream.h"
#include "stepping/step_recording.h"

namespace sonde {

struct StepperOptions {
  bool follow = true;                  // threads and children, too
  uint64_t max_bytes = 0;              // of the file; 0: no limit
  bool has_breakpoints = true;         // hardware_breakpoints_fire(); filters need them
  std::vector<AddressFilter> filters;  // empty: everything is traced
  std::string log_path;                // empty: none; else "TID ADDRESS" per instruction, for tests
};

struct StepEnd {
  std::optional<int> status;  // the command's wait status; none if it still runs
  int signal = 0;             // SIGINT or SIGTERM that ended the recording
  bool size_reached = false;
  bool executed = false;  // the command's exec succeeded
  uint64_t instructions = 0;
};

class Stepper {
 public:
  Stepper(StepperOptions options, StepRecording& recording, SignalQueue& signals);
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;
  /// Lets go of what still runs.
  ~Stepper();

  /// Becomes the tracer of a child that has not yet called exec.
  Result<> seize(pid_t pid);
  /// Until the command has ended, a signal or the size limit says so, or something fails. Then all
  /// tasks that are left run on without us.
  Result<StepEnd> run();

 private:
  /// A filter's function, where a process has it.
  struct Region {
    AddressFilter::Kind kind;
    uint64_t start, end;
  };
  struct Process {
    explicit Process(pid_t id) : pid(id), code(id) {}
    pid_t pid;
    pid_t parent = 0;
    CodeImage code;
    std::vector<Region> regions;
    uint64_t changes = 0;  // records about it so far: traces must not be older than those
  };
  struct Thread {
    pid_t tid = 0;
    std::shared_ptr<Process> process;
    PtStream stream;
    uint32_t index = 0;
    uint64_t written = 0;  // bytes of the trace
    uint64_t ip = 0;       // before the step
    StepInstruction instruction;
    bool announced = false;  // its creation is known: it may run
    bool waiting = false;    // stopped before that
    bool begun = false;      // and runs
    bool stepping = false;   // past its exec
    bool injected = false;   // a signal was delivered with the last step
    bool in_system_call = false;
    bool repeating = false;  // runs to the end of a repeated instruction
    bool stopped = false;
    bool at_full_speed = false;  // until it comes to a filter's function
    bool started = false;        // between a start and its stop
    uint64_t entry_stack = 0;    // the stack pointer when a filter's function was entered
    uint64_t seen_changes = 0;
    [[nodiscard]] StepTask task() const { return {process->pid, tid}; }
  };

  Result<> on_status(pid_t tid, int status);
  Result<> on_stop(Thread& thread, int status);
  Result<> on_trap(Thread& thread);
  Result<> on_exec(Thread& thread);
  Result<> on_new_task(Thread& parent, int event);
  Result<> loop();
  void on_exit(Thread& thread);
  void end_trace(Thread& thread);
  Result<> begin(Thread& thread);
  Result<> begin_orphans();
  Result<> arrive(Thread& thread, uint64_t ip);
  Result<> step(Thread& thread, int signal = 0);
  void executed(Thread& thread, uint64_t next);
  static void fits_not(Thread& thread);
  void after_system_call(Thread& thread);
  void describe_mappings(Thread& thread);
  void hide_trap_flag(const Thread& thread) const;
  void count(const Thread& thread);
  void write_trace(Thread& thread);
  void resume(Thread& thread, int request, int signal = 0);
  void run_repetitions(Thread& thread);
  void find_regions(Process& process) const;
  bool choose_mode(Thread& thread, uint64_t ip);
  void run_at_full_speed(Thread& thread, int signal = 0);
  Thread& thread_of(pid_t tid);
  void announce(Thread& child, Thread& parent, bool is_thread);
  void detach_all();

  StepperOptions options_;
  StepRecording& recording_;
  SignalQueue& signals_;
  std::unordered_map<pid_t, Thread> threads_;
  pid_t command_ = -1;
  StepEnd end_;
  uint32_t traces_ = 0;
  std::FILE* log_ = nullptr;
  bool detached_ = false;
};

}  // namespace sonde
