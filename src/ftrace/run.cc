#include "ftrace/run.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "capture/control/run_end.h"
#include "capture/control/signal_queue.h"
#include "capture/control/workload.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/thread_map.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;

Result<> choose_threads(const FtraceTarget& target, TraceSettings& settings) {
  std::vector<ThreadEntry> threads = TRY(threads_of_either(target.pids, target.tids));
  if (!threads.empty() && !settings.traces_functions())
    return fail(ErrorCode::kUsage,
                "Error: the tracer '{}' traces the whole machine: --pid and --tid are for function "
                "and function_graph",
                settings.tracer);
  for (const ThreadEntry& thread : threads) settings.tids.push_back(thread.tid);
  return {};
}

/// A running tracer, its command, and the loop that reads until they are done.
class Tracing {
 public:
  Tracing(FtraceSession& session, std::optional<Workload>& workload, SignalQueue& signals,
          const FtraceText& text, Env& env)
      : session_(session), workload_(workload), signals_(signals), text_(text), env_(env) {}

  Result<int> run(uint64_t delay_ms, const std::vector<std::string>& command) {
    if (text_.on_heading) text_.on_heading(session_.heading());
    if (delay_ms == 0) TRY(session_.set_enabled(true));
    if (workload_) {
      workload_->start();
      if (auto error = workload_->exec_error())
        return fail(ErrorCode::kNotFound, "{}: {}", command[0], std::strerror(*error));
    }
    if (delay_ms != 0) begin_ = Clock::now() + std::chrono::milliseconds(delay_ms);
    while (!done_) TRY(turn());
    TRY(session_.set_enabled(false));
    while (read_some()) {
    }
    text_.on_end();
    return status_;
  }

 private:
  Result<> turn() {
    pollfd ready[] = {{.fd = session_.fd(), .events = POLLIN, .revents = 0},
                      {.fd = signals_.fd(), .events = POLLIN, .revents = 0}};
    (void)::poll(ready, 2, timeout_ms());
    if (begin_ && Clock::now() >= *begin_) {
      begin_.reset();
      TRY(session_.set_enabled(true));
    }
    if ((ready[0].revents & POLLIN) != 0 && !read_some()) env_.out.flush();
    if (env_.out.failed() != 0) done_ = true;
    take_signals();
    return {};
  }
  [[nodiscard]] int timeout_ms() const {
    // Text that arrives while poll is not yet waiting is not always reported.
    constexpr int kMaxLength = 200;
    if (!begin_) return kMaxLength;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*begin_ - Clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count() + 1, 0, kMaxLength));
  }
  bool read_some() {
    std::string_view text = session_.read();
    if (!text.empty()) text_.on_text(text);
    return !text.empty();
  }
  void take_signals() {
    while (auto number = signals_.next()) {
      if (*number == SIGUSR2 || *number == SIGCHLD) continue;
      if (!workload_)
        done_ = true;
      else if (end_)
        end_->take(*number);
      else
        ask_to_end(*number);
    }
    if (!workload_) return;
    if (auto status = workload_->reap(false)) {
      status_ = shell_status(*status);
      done_ = true;
    } else if (end_ && end_->is_over()) {
      status_ = 128 + ended_by_;
      done_ = true;
    }
  }
  void ask_to_end(int number) {
    ended_by_ = number;
    workload_->signal(number);
    end_.emplace(&*workload_, number, number, env_);
  }

  FtraceSession& session_;
  std::optional<Workload>& workload_;
  SignalQueue& signals_;
  const FtraceText& text_;
  Env& env_;
  std::optional<Clock::time_point> begin_;
  bool done_ = false;
  int status_ = 0;
  int ended_by_ = 0;           // signal
  std::optional<RunEnd> end_;  // once the command was asked to end
};

void report_where(const FtraceSession& session, int verbose, Env& env) {
  std::string interrupted = session.interrupted();
  if (!interrupted.empty())
    env.err.print(
        "ftrace: the active tracer '{}' is interrupted, and the data it had collected is lost; its "
        "settings are restored at the end\n",
        interrupted);
  if (verbose == 0) return;
  const TraceDirectory& where = session.directory();
  env.err.print("tracing in {}\n", where.is_shared() ? where.tracefs() : where.instance());
  for (const TraceChanges::Change& change : session.changes())
    env.err.print("  set temporarily: {}\n", change.path);
}

}  // namespace

Result<int> run_tracer(const FtraceRun& run, const std::vector<std::string>& command,
                       const FtraceText& text, Env& env) {
  TraceSettings settings = run.settings;
  TRY(choose_threads(run.target, settings));
  std::vector<int> online = TRY(online_cpus());
  settings.cpus = run.target.cpus.empty() ? online : TRY(select_cpus(run.target.cpus, online));
  bool is_of_all = run.target.all_cpus || !run.target.cpus.empty();
  Tracefs tracefs;
  SignalQueue signals = TRY(SignalQueue::create());
  std::optional<Workload> workload;
  if (!command.empty()) workload.emplace(TRY(Workload::fork(command, false)));
  if (workload && !is_of_all && settings.tids.empty()) settings.tids.push_back(workload->pid());
  FtraceSession session = TRY(FtraceSession::open(tracefs.path(), settings));
  report_where(session, run.target.verbose, env);
  return Tracing(session, workload, signals, text, env).run(run.delay_ms, command);
}

Result<int> trace_calls(FtraceRun run, const std::string& input,
                        const std::vector<std::string>& command, GraphCalls& calls, Env& env,
                        const std::function<void()>& write) {
  auto consume = [&](std::string_view text) { calls.consume(text); };
  auto end = [&] {
    calls.finish();
    env.losses.add(LossKind::k_lost_by_kernel, calls.lost());
    write();
  };
  if (input.empty()) {
    run.settings.tracer = "function_graph";
    return run_tracer(run, command, {.on_heading = {}, .on_text = consume, .on_end = end}, env);
  }
  MappedFile file = TRY(MappedFile::open(input));
  consume(as_text(file.bytes()));
  end();
  return 0;
}

}  // namespace sonde
