#include "stepping/stepper.h"

#ifdef __x86_64__

#include <poll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "stepping/stopped_thread.h"

namespace sonde {
namespace {

/// Bytes of a trace in memory, before they are written. A limit on the file is kept by smaller
/// ones.
constexpr size_t kMostBytes = 1 << 20, kLeastBytes = 4096;
size_t piece_size(uint64_t max_bytes) {
  constexpr uint64_t kPieces = 16;
  return max_bytes == 0 ? kMostBytes : std::clamp(max_bytes / kPieces, kLeastBytes, kMostBytes);
}

/// si_code of a SIGTRAP: TRAP_TRACE and TRAP_BRKPT are in <signal.h>.
constexpr int kAtHandler = SIGTRAP;  // ptrace_notify: a handler is about to run

bool is_step_code(int code) {
  return code == TRAP_TRACE || code == TRAP_BRKPT || code == TRAP_HWBKPT || code == kAtHandler;
}

}  // namespace

Stepper::Stepper(StepperOptions options, StepRecording& recording, SignalQueue& signals)
    : options_(std::move(options)), recording_(recording), signals_(signals) {
  if (!options_.log_path.empty()) log_ = std::fopen(options_.log_path.c_str(), "we");
}

Stepper::~Stepper() {
  detach_all();
  if (log_ != nullptr) std::fclose(log_);
}

Result<> Stepper::seize(pid_t pid) {
  long wanted = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;
  if (options_.follow) wanted |= PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, wanted) != 0)
    return fail(ErrorCode::kPermission,
                "sonde_step//: process {} cannot be traced: {}; see kernel.yama.ptrace_scope", pid,
                std::strerror(errno));
  command_ = pid;
  Thread& thread = thread_of(pid);
  thread.announced = true;
  return {};
}

Result<StepEnd> Stepper::run() {
  Result<> looped = loop();
  if (!end_.status && command_ > 0) ::kill(command_, SIGTERM);
  detach_all();
  TRY(std::move(looped));
  return end_;
}

Result<> Stepper::loop() {
  while (!end_.status) {
    int status = 0;
    pid_t tid = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (tid < 0) break;
    if (tid > 0) {
      TRY(on_status(tid, status));
      continue;
    }
    pollfd wait{signals_.fd(), POLLIN, 0};
    bool any_waits =
        std::ranges::any_of(threads_, [](const auto& entry) { return entry.second.waiting; });
    constexpr int kOrphanMs = 1000;
    if (::poll(&wait, 1, any_waits ? kOrphanMs : -1) == 0) TRY(begin_orphans());
    while (std::optional<int> number = signals_.next())
      if (*number == SIGINT || *number == SIGTERM) end_.signal = *number;
    if (options_.max_bytes != 0 && recording_.bytes_written() >= options_.max_bytes)
      end_.size_reached = true;
    if (end_.signal != 0 || end_.size_reached || recording_.failed()) break;
  }
  return {};
}

Result<> Stepper::on_status(pid_t tid, int status) {
  if (WIFSTOPPED(status)) return on_stop(thread_of(tid), status);
  auto found = threads_.find(tid);
  if (found != threads_.end()) {
    on_exit(found->second);
    threads_.erase(found);
  }
  if (tid == command_) end_.status = status;
  return {};
}

Result<> Stepper::on_stop(Thread& thread, int status) {
  int signal = WSTOPSIG(status);
  thread.stopped = true;
  if (std::exchange(thread.repeating, false)) set_breakpoints(thread.tid, {});
  switch (status >> 16) {
    case 0:
      break;
    case PTRACE_EVENT_EXEC:
      return on_exec(thread);
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      return on_new_task(thread, status >> 16);
    case PTRACE_EVENT_EXIT:
      on_exit(thread);
      resume(thread, PTRACE_CONT);
      return {};
    case PTRACE_EVENT_STOP:
      if (is_group_stop(signal)) {
        resume(thread, PTRACE_LISTEN);
        return {};
      }
      if (!thread.announced) {
        thread.waiting = true;
        return {};
      }
      return std::exchange(thread.begun, true) ? step(thread) : begin(thread);
    default:
      return step(thread);
  }
  if (!thread.stepping) {
    resume(thread, PTRACE_CONT, signal);
    return {};
  }
  constexpr int kSystemCallStop = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD
  if (signal == kSystemCallStop) {
    after_system_call(thread);
    return step(thread);
  }
  if (signal == SIGTRAP) return on_trap(thread);
  thread.injected = true;
  return step(thread, signal);
}

/// A step is over; or the program itself got a SIGTRAP.
Result<> Stepper::on_trap(Thread& thread) {
  uint64_t ip = ip_of(thread.tid);
  bool in_doubt =
      thread.injected || thread.in_system_call || thread.at_full_speed || ip == thread.ip;
  thread.injected = false;
  int code = TRAP_TRACE;
  if (in_doubt) {
    std::optional<siginfo_t> info = signal_info(thread.tid);
    if (!info) return {};  // it has just been killed
    code = info->si_code;
    if (!is_step_code(code)) {
      thread.injected = true;
      return step(thread, SIGTRAP);
    }
  }
  if (thread.at_full_speed) {
    if (code == TRAP_HWBKPT) {
      thread.entry_stack = user_word(thread.tid, offsetof(user_regs_struct, rsp));
      return arrive(thread, ip);
    }
    return step(thread);
  }
  if (thread.in_system_call) {
    after_system_call(thread);
    return arrive(thread, ip);
  }
  if (code == kAtHandler) {
    if (thread.stream.enabled()) thread.stream.interrupt(thread.ip);
    return arrive(thread, ip);
  }
  if (code == TRAP_BRKPT) return step(thread);  // nothing was executed
  executed(thread, ip);
  return arrive(thread, ip);
}

/// One instruction was executed, and `next` follows.
void Stepper::executed(Thread& thread, uint64_t next) {
  if (!thread.stream.enabled()) {
    if (thread.instruction.kind == StepKind::kPushFlags) hide_trap_flag(thread);
    return;
  }
  if (thread.seen_changes != thread.process->changes) {
    thread.seen_changes = thread.process->changes;
    thread.stream.set_time(monotonic_ns());
  }
  const StepInstruction& instruction = thread.instruction;
  uint64_t following = thread.ip + instruction.length;
  switch (instruction.kind) {
    case StepKind::kRepeat:
      if (next == thread.ip) return;  // not its last repetition
      break;
    case StepKind::kPushFlags:
      hide_trap_flag(thread);
      break;
    case StepKind::kIndirect:
      count(thread);
      thread.stream.indirect(next);
      break;
    case StepKind::kConditional:
      if (next != following && next != instruction.target) return fits_not(thread);
      count(thread);
      thread.stream.conditional(next == instruction.target);
      break;
    case StepKind::kDirect:
      if (next != instruction.target) return fits_not(thread);
      count(thread);
      break;
    default:
      break;
  }
  bool goes_on = instruction.kind == StepKind::kPlain || instruction.kind == StepKind::kRepeat ||
                 instruction.kind == StepKind::kPushFlags;
  if (goes_on) {
    if (next != following) return fits_not(thread);
    count(thread);
  } else if (thread.stream.wants_sync()) {
    thread.stream.sync(next, monotonic_ns());
    if (thread.stream.size() >= piece_size(options_.max_bytes)) write_trace(thread);
  }
}

/// The instruction did not run to its end, and the thread is elsewhere.
void Stepper::fits_not(Thread& thread) {
  thread.stream.interrupt(thread.ip);
}

/// The thread is at `ip`, in user code: prepares the next step and makes it.
Result<> Stepper::arrive(Thread& thread, uint64_t ip) {
  thread.in_system_call = false;
  thread.ip = ip;
  if (!options_.filters.empty() && !choose_mode(thread, ip)) {
    run_at_full_speed(thread);
    return {};
  }
  if (options_.filters.empty() && !thread.stream.enabled())
    thread.stream.enable(ip, monotonic_ns());
  Result<StepInstruction> instruction = thread.process->code.at(ip);
  if (!instruction && instruction.error().code == ErrorCode::kNotFound) {
    describe_mappings(thread);  // of another thread that has not yet told us
    instruction = thread.process->code.at(ip);
  }
  if (!instruction && instruction.error().code == ErrorCode::kNotFound) {
    thread.instruction = {};  // the step will end in a fault
    return step(thread);
  }
  thread.instruction = TRY(std::move(instruction));
  if (thread.instruction.kind == StepKind::kFar) {
    if (thread.stream.enabled()) {
      count(thread);
      thread.stream.set_time(monotonic_ns());  // so that what follows is known to be the call's
      thread.stream.leave();
    }
    thread.in_system_call = true;
  }
  if (thread.instruction.kind == StepKind::kRepeat && options_.has_breakpoints) {
    run_repetitions(thread);
    return {};
  }
  return step(thread);
}

/// In one go: a step is one repetition, and there may be millions.
void Stepper::run_repetitions(Thread& thread) {
  thread.repeating = true;
  uint64_t end = thread.ip + thread.instruction.length;
  set_breakpoints(thread.tid, {&end, 1});
  resume(thread, PTRACE_CONT);
}

/// Whether a thread that is at `ip` is to be stepped: it is in a filter's function or was called
/// from one, or a start was passed. Switches its trace on and off.
bool Stepper::choose_mode(Thread& thread, uint64_t ip) {
  bool in_function = false, was_full_speed = thread.at_full_speed;
  for (const Region& region : thread.process->regions) {
    if (region.kind == AddressFilter::Kind::kFilter)
      in_function |= region.start <= ip && ip < region.end;
    else if (ip == region.start)
      thread.started = region.kind == AddressFilter::Kind::kStart;
    if (region.kind == AddressFilter::Kind::kStop && ip == region.start) thread.entry_stack = 0;
  }
  bool traced = in_function || thread.started;
  if (traced && !thread.stream.enabled()) thread.stream.enable(ip, monotonic_ns());
  if (!traced && thread.stream.enabled()) thread.stream.interrupt(ip);
  if (traced) {
    if (was_full_speed) set_breakpoints(thread.tid, {});
    thread.at_full_speed = false;
    return true;
  }
  // The callees of a filter's function are stepped, too: only then is no way back to it missed.
  if (was_full_speed || thread.entry_stack == 0) return false;
  uint64_t stack = user_word(thread.tid, offsetof(user_regs_struct, rsp));
  bool returned = stack > thread.entry_stack;
  if (returned) thread.entry_stack = 0;
  return !returned;
}

void Stepper::run_at_full_speed(Thread& thread, int signal) {
  thread.at_full_speed = true;
  std::vector<uint64_t> entries;
  for (const Region& region : thread.process->regions)
    if (region.kind != AddressFilter::Kind::kStop) entries.push_back(region.start);
  set_breakpoints(thread.tid, entries);
  resume(thread, PTRACE_SYSCALL, signal);
}

void Stepper::find_regions(Process& process) const {
  process.regions.clear();
  for (const AddressFilter& filter : options_.filters)
    for (const CodeMapping& mapping : process.code.mappings()) {
      uint64_t size = mapping.end - mapping.start;
      if (mapping.path != filter.object || filter.offset < mapping.offset ||
          filter.offset >= mapping.offset + size)
        continue;
      uint64_t start = mapping.start + filter.offset - mapping.offset;
      process.regions.push_back({filter.kind, start, start + filter.size});
      break;
    }
}

Result<> Stepper::step(Thread& thread, int signal) {
  if (thread.at_full_speed) {
    run_at_full_speed(thread, signal);
    return {};
  }
  resume(thread, thread.stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, signal);
  return {};
}

/// The program would find the processor's trap flag on its stack, and set it again with popf.
void Stepper::hide_trap_flag(const Thread& thread) const {
  constexpr uint64_t kTrapFlag = 1 << 8;
  uint64_t stack = user_word(thread.tid, offsetof(user_regs_struct, rsp));
  errno = 0;
  auto flags = static_cast<uint64_t>(::ptrace(PTRACE_PEEKDATA, thread.tid, stack, nullptr));
  if (errno == 0) ::ptrace(PTRACE_POKEDATA, thread.tid, stack, flags & ~kTrapFlag);
}

/// Calls that change what can be executed, or the thread's name.
void Stepper::after_system_call(Thread& thread) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, thread.tid, nullptr, &registers) != 0) return;
  constexpr uint64_t kExecutable = 4, kSetName = 15;  // PROT_EXEC, PR_SET_NAME
  switch (registers.orig_rax) {
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      if ((registers.rdx & kExecutable) != 0) describe_mappings(thread);
      break;
    case SYS_munmap:
    case SYS_mremap:
    case SYS_shmat:
      describe_mappings(thread);
      break;
    case SYS_prctl:
      if (registers.rdi == kSetName) recording_.comm(thread.task(), comm_of(thread.tid), false);
      break;
    default:
      break;
  }
}

void Stepper::describe_mappings(Thread& thread) {
  for (const CodeMapping& mapping : thread.process->code.reload()) {
    recording_.mapping(thread.task(), mapping);
    ++thread.process->changes;
  }
  find_regions(*thread.process);
}

Result<> Stepper::on_exec(Thread& thread) {
  // Another thread may have called exec: it now has the id of the first one.
  unsigned long former = 0;
  ::ptrace(PTRACE_GETEVENTMSG, thread.tid, nullptr, &former);
  auto caller = threads_.find(static_cast<pid_t>(former));
  if (caller != threads_.end() && caller->first != thread.tid) {
    end_trace(caller->second);
    threads_.erase(caller);
  }
  auto process = std::make_shared<Process>(thread.tid);
  process->parent = thread.process->parent;
  thread.process = std::move(process);
  if (thread.stream.enabled()) thread.stream.interrupt(thread.ip);
  if (thread.tid == command_) end_.executed = true;
  constexpr uint64_t kCode64 = 0x33;
  if (user_word(thread.tid, offsetof(user_regs_struct, cs)) != kCode64)
    return fail(ErrorCode::kUnsupported,
                "sonde_step//: {} is a 32-bit program, which cannot be stepped: record it with "
                "-e cpu-clock",
                comm_of(thread.tid));
  recording_.comm(thread.task(), comm_of(thread.tid), true);
  describe_mappings(thread);
  if (!thread.stepping) recording_.trace_starts(thread.task());
  thread.stepping = thread.begun = true;
  thread.at_full_speed = thread.started = false;
  thread.entry_stack = 0;
  thread.in_system_call = true;  // still in execve
  return step(thread);
}

Result<> Stepper::on_new_task(Thread& parent, int event) {
  unsigned long id = 0;
  ::ptrace(PTRACE_GETEVENTMSG, parent.tid, nullptr, &id);
  pid_t parent_tid = parent.tid;
  Thread& child = thread_of(static_cast<pid_t>(id));  // may move nothing: nodes are stable
  bool is_thread = event == PTRACE_EVENT_CLONE && status_number(child.tid, "Tgid") != child.tid;
  announce(child, threads_.at(parent_tid), is_thread);
  TRY(step(threads_.at(parent_tid)));
  return child.waiting && !std::exchange(child.begun, true) ? begin(child) : Result<>();
}

/// Tasks whose creators were killed before they could say so.
Result<> Stepper::begin_orphans() {
  std::vector<Thread*> orphans;
  for (auto& [tid, thread] : threads_)
    if (thread.waiting && !thread.announced) orphans.push_back(&thread);
  for (Thread* orphan : orphans) {
    auto first = threads_.find(status_number(orphan->tid, "Tgid"));
    if (first != threads_.end()) orphan->process = first->second.process;
    orphan->announced = orphan->begun = true;
    orphan->stepping = end_.executed;
    pid_t parent = orphan->process->parent;
    if (orphan->stepping) recording_.fork(orphan->task(), {parent, parent});
    TRY(begin(*orphan));
  }
  return {};
}

void Stepper::announce(Thread& child, Thread& parent, bool is_thread) {
  child.announced = true;
  child.stepping = parent.stepping;
  child.started = parent.started;
  child.entry_stack = is_thread ? 0 : parent.entry_stack;
  if (is_thread) {
    child.process = parent.process;
  } else {
    child.process = std::make_shared<Process>(child.tid);
    child.process->parent = parent.process->pid;
  }
  if (child.stepping) recording_.fork(child.task(), parent.task());
}

/// A new task's first stop, before it has executed anything.
Result<> Stepper::begin(Thread& thread) {
  thread.waiting = false;
  if (!thread.stepping) return step(thread);
  if (thread.process->code.mappings().empty()) {  // a new process: they are inherited
    (void)thread.process->code.reload();
    find_regions(*thread.process);
  }
  recording_.trace_starts(thread.task());
  return arrive(thread, ip_of(thread.tid));
}

void Stepper::on_exit(Thread& thread) {
  if (!thread.stepping) return;
  end_trace(thread);
  bool is_first = thread.tid == thread.process->pid;
  pid_t parent = is_first ? thread.process->parent : thread.process->pid;
  recording_.exit(thread.task(), {parent, parent});
}

void Stepper::end_trace(Thread& thread) {
  if (!std::exchange(thread.stepping, false)) return;
  if (thread.stream.enabled()) thread.stream.interrupt(thread.ip);
  write_trace(thread);
}

void Stepper::count(const Thread& thread) {
  ++end_.instructions;
  if (log_ != nullptr) std::fprintf(log_, "%d %lx\n", thread.tid, thread.ip);
}

void Stepper::write_trace(Thread& thread) {
  std::vector<std::byte> bytes = thread.stream.take();
  recording_.trace(thread.task(), thread.index, thread.written, bytes);
  thread.written += bytes.size();
}

void Stepper::resume(Thread& thread, int request, int signal) {
  thread.stopped = false;
  // Fails only if the thread was killed meanwhile; its end will be reported.
  ::ptrace(static_cast<__ptrace_request>(request), thread.tid, nullptr, signal);
}

Stepper::Thread& Stepper::thread_of(pid_t tid) {
  auto [at, is_new] = threads_.try_emplace(tid);
  if (is_new) {
    at->second.tid = tid;
    at->second.index = traces_++;
    at->second.process = std::make_shared<Process>(tid);
    at->second.process->parent = status_number(tid, "PPid");
  }
  return at->second;
}

/// Each thread is stopped, and let go where it is, with the signal that it was about to get. A step
/// may have ended as well: its SIGTRAP would kill a thread without a tracer. One that waits for a
/// child in vfork(2) only stops when the child was let go.
void Stepper::detach_all() {
  if (std::exchange(detached_, true)) return;
  auto let_go = [&](pid_t tid, int signal) {
    auto found = threads_.find(tid);
    if (found != threads_.end() && (found->second.repeating || found->second.at_full_speed))
      set_breakpoints(tid, {});
    ::ptrace(PTRACE_DETACH, tid, nullptr, signal);
    if (found == threads_.end()) return;
    end_trace(found->second);
    threads_.erase(found);
  };
  std::vector<pid_t> stopped;
  for (auto& [tid, thread] : threads_)
    if (thread.stopped)
      stopped.push_back(tid);
    else
      ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  for (pid_t tid : stopped) let_go(tid, 0);

  constexpr uint64_t kPatienceNs = 1'000'000'000;
  uint64_t deadline = monotonic_ns() + kPatienceNs;
  while (!threads_.empty() && monotonic_ns() < deadline) {
    int status = 0;
    pid_t tid = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (tid < 0) break;  // none is left
    if (tid == 0) {
      ::poll(nullptr, 0, 1);
      continue;
    }
    if (tid == command_ && !WIFSTOPPED(status)) end_.status = status;
    if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP && has_pending_trap(tid)) {
      ::ptrace(PTRACE_CONT, tid, nullptr, nullptr);
      continue;
    }
    bool has_signal = WIFSTOPPED(status) && status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP;
    let_go(tid, has_signal ? WSTOPSIG(status) : 0);
  }
  for (auto& [tid, thread] : threads_) end_trace(thread);
  threads_.clear();
}

}  // namespace sonde

#endif
