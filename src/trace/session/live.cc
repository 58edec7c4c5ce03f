#include "trace/session/live.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "bpf/map_text.h"
#include "capture/control/delay_schedule.h"
#include "capture/control/run_end.h"
#include "capture/control/signal_queue.h"
#include "capture/opening/event_closer.h"
#include "capture/opening/lost_counts.h"
#include "capture/opening/thread_map.h"
#include "capture/rings/drain_pace.h"
#include "capture/rings/poller.h"
#include "capture/synthesis/preamble.h"
#include "capture/synthesis/synthesis_cgroup.h"
#include "trace/session/request.h"
#include "trace/session/selected_events.h"
#include "trace/session/view.h"
#include "trace/sources/bpf_source.h"
#include "trace/sources/merged_source.h"
#include "trace/sources/perf_source.h"
#include "trace/sources/proc_fd_source.h"
#include "trace/sources/task_fds.h"
#include "trace/views/trace_view.h"

namespace sonde {
namespace {

class LiveTrace {
 public:
  LiveTrace(const TraceOptions& options, Sink& out, Env& env, SignalQueue& signals, Poller& poller)
      : options_(options),
        out_(out),
        env_(env),
        signals_(signals),
        poller_(poller),
        tasks_([this](int32_t tid) { return name_of_running(tid); }, options.summary),
        texts_(options.style, &fds_) {}

  Result<int> run() {
    if (options_.style.by_types) TRY(texts_.types().check());
    TRY(open());
    TRY(watch());
    start();
    while (!done_) {
      poller_.wait(wait_ms_);
      TRY(consume(false));
    }
    return finish();
  }

 private:
  static constexpr size_t kStandardStreams = 3, kMaxDescriptors = 256;

  Result<> open() {
    bool by_bpf = options_.wants_calls && TRY(open_bpf());
    if (!by_bpf) TRY(open_capture(true));
    if (!options_.map_dump.empty()) dumped_map_ = TRY(map_to_dump());
    rings_ = TRY(
        PerfSource::make(*capture_, [this](size_t i) { return i < events_.call_events; }, env_));
    if (by_bpf) merged_.emplace(std::vector<TraceSource*>{bpf_.get(), rings_.get()});
    source_ = by_bpf ? static_cast<TraceSource*>(&*merged_) : rings_.get();
    utsname machine{};
    (void)::uname(&machine);
    places_ = make_places(options_, source_->events(), static_cast<const char*>(machine.release),
                          static_cast<const char*>(machine.machine),
                          static_cast<const char*>(machine.nodename), env_);
    if (places_) describe_running();
    texts_.set_sees_all(follows_descriptors(options_));
    // A command inherits this process's directory and streams; it does not run yet.
    if (capture_->workload) ask_about(capture_->workload->pid(), ::getpid(), kStandardStreams, 0);
    TraceViewOptions view = TRY(view_options(options_, source_->events(), env_));
    view.max_per_event = events_.max_per_event;
    view.lines.show_task = traces_several();
    if (options_.tables.mode == SummaryMode::kCgroup) view.cgroups = cgroup_paths();
    view_.emplace(std::move(view), source_->events(), texts_, tasks_, places_.get(), out_);
    return {};
  }

  /// Tracepoints have no map.
  [[nodiscard]] Result<int> map_to_dump() const {
    if (bpf_) return bpf_->map(options_.map_dump);
    return fail(ErrorCode::kNotFound, "ERROR: BPF map \"{}\" not found: no BPF program traces here",
                options_.map_dump);
  }

  [[nodiscard]] bool traces_several() const {
    return capture_->target.has_cpu() || !options_.record.sampling.no_inherit ||
           capture_->target.threads.size() > 1;
  }

  Result<> open_capture(bool calls_by_tracepoints) {
    capture_.reset();  // a command that it holds ends
    events_ = TRY(make_trace_events(options_, calls_by_tracepoints, env_));
    capture_.emplace(TRY(set_up_capture(events_.record, false, env_)));
    return {};
  }

  /// Whether BPF programs see the calls; if they can't, tracepoints do, and -v says why.
  Result<bool> open_bpf() {
    std::string why_not = why_not_bpf(options_);
    if (why_not.empty()) {
      TRY(open_capture(false));
      TraceRequest request = TRY(trace_request(options_, *capture_, env_));
      Result<std::unique_ptr<BpfSource>> opened = BpfSource::open(request, env_.losses);
      if (opened) {
        bpf_ = std::move(*opened);
        return true;
      }
      why_not = opened.error().message;
      if (options_.bpf == true || opened.error().code == ErrorCode::kUsage ||
          opened.error().code == ErrorCode::kNotFound)
        return std::unexpected(opened.error());
    }
    if (options_.summary && options_.tables.mode == SummaryMode::kCgroup)
      return fail(ErrorCode::kUnsupported, "--summary-mode cgroup needs BPF programs: {}", why_not);
    if (options_.verbose > 0)
      env_.err.print(
          "tracing calls by tracepoints, without the memory that arguments point to: {}\n",
          why_not);
    return false;
  }

  /// Reads the working directories and open files of processes that run, once their calls are seen:
  /// what changes after that is followed. Later they may be gone.
  void ask_about_targets() {
    if (capture_->target.kind != Target::Kind::kTasks || capture_->workload) return;
    std::vector<pid_t> processes = numeric_entries("/proc");  // threads share their process's
    std::ranges::sort(processes);
    for (const OpenedEvent& opened : capture_->events.front().opened)
      if (std::ranges::binary_search(processes, opened.tid))
        ask_about(opened.tid, opened.tid, kMaxDescriptors, std::nullopt);
  }
  /// `like`: the process to ask. The names hold from `since_ns` on; nothing: from now on.
  void ask_about(pid_t pid, pid_t like, size_t most, std::optional<uint64_t> since_ns) {
    texts_.begins_in(pid, proc_.working_directory(like));
    std::vector<pid_t> fds = numeric_entries(fmt::format("/proc/{}/fd", like));
    std::ranges::sort(fds);
    if (fds.size() > most) fds.resize(most);
    for (pid_t fd : fds) {
      std::string name = proc_.fd(like, fd);
      texts_.has_open(pid, fd, std::move(name), since_ns ? *since_ns : proc_.now_ns());
    }
  }

  /// Mappings of what is already running, to resolve addresses.
  void describe_running() {
    ByteBuilder records;
    synthesise_state(*capture_, events_.record, env_.losses, records);
    SampleLayout layout(capture_->events.front().attr());
    RecordBlock block;
    block.bytes = records.view();
    RecordRange range(block, kHostOrder);
    for (RecordView record; range.next(record);)
      places_->apply({.record = &record, .layout = &layout}, 0);
  }

  std::string name_of_running(int32_t tid) { return tid == 0 ? "swapper" : proc_.comm(tid); }

  Result<> watch() {
    poller_.add(signals_.fd(), [this](auto) { on_signals(); });
    if (capture_->target.kind == Target::Kind::kTasks) {
      watch_tasks();
      if (bpf_)
        for (int fd : bpf_->wait_fds()) poller_.add(fd, [](auto) {});
    } else {
      for (int fd : source_->wait_fds()) poller_.add(fd, [](auto) {});
    }
    if (capture_->workload) poller_.add(capture_->workload->exec_fd(), [this](auto) { on_exec(); });
    if (options_.record.delay.any()) {
      delay_.emplace(TRY(DelaySchedule::create(options_.record.delay)));
      poller_.add(delay_->fd(), [this](auto) { on_delay(); });
    }
    return {};
  }

  /// An event hangs up when its task ends; when all have, so does the trace.
  void watch_tasks() {
    live_tasks_ = capture_->events.front().opened.size();
    for (const OpenedEvent& opened : capture_->events.front().opened)
      poller_.add(opened.fd, [this, fd = opened.fd](Poller::Ready ready) {
        if (!ready.hung_up) return;
        poller_.remove(fd);
        if (--live_tasks_ == 0) done_ = true;
      });
  }

  void start() {
    // A command's events are enabled by its exec, others now. With -D they wait.
    if (!options_.record.delay.any() && !capture_->target.is_command()) (void)source_->start();
    ask_about_targets();
    if (capture_->workload) capture_->workload->start();
    if (delay_) delay_->start();
  }

  Result<> consume(bool all) {
    TRY(source_->refill(all));
    while (const TraceItem* item = view_->is_done() ? nullptr : source_->front()) {
      view_->consume(*item);
      source_->pop();
    }
    if (view_->is_done()) done_ = true;
    constexpr int kMaxMs = 100;
    wait_ms_ =
        pace_.next_wait_ms(DrainPace::Clock::now(), rings_->fullest_bytes(), rings_->ring_bytes());
    if (wait_ms_ < 0 || wait_ms_ > kMaxMs) wait_ms_ = kMaxMs;
    if (rings_->fullest_bytes() < rings_->ring_bytes() / 8) out_.flush();
    return {};
  }

  Result<int> finish() {
    bool enough = view_->is_done();
    if (capture_->workload && !child_ended_) capture_->workload->signal(SIGTERM);
    RunEnd end(capture_->workload ? &*capture_->workload : nullptr, SIGTERM, interrupted_by_, env_);
    source_->stop();
    if (!enough) TRY(consume(true));
    view_->finish(TRY(source_->totals()));
    if (dumped_map_) TRY(write_map(*dumped_map_, out_));
    if (options_.tool_stats) write_tool_stats(texts_.descriptor_counts(), out_);
    ByteBuilder records;
    uint64_t lost = std::max(view_->lost(), read_lost_counts(env_.sys, capture_->events, records));
    if (lost > 0) env_.losses.add(LossKind::k_lost_by_kernel, lost);
    close_events(*capture_, env_.sys);
    out_.flush();
    return outcome();
  }

  Result<int> outcome() {
    if (exec_error_)
      return fail(ErrorCode::kFailed, "Workload failed: {}: {}",
                  options_.record.target.command.front(), std::strerror(*exec_error_));
    if (ended_by_ != 0) return 128 + ended_by_;
    if (!capture_->workload || !child_ended_) return 0;
    std::optional<int> status = capture_->workload->reap(true);
    return status ? shell_status(*status) : 0;
  }

  void on_signals() {
    while (std::optional<int> number = signals_.next()) {
      if (*number == SIGCHLD) {
        if (!capture_->workload || !capture_->workload->reap(false)) continue;
        child_ended_ = done_ = true;
      } else if (*number == SIGINT || *number == SIGTERM) {
        interrupted_by_ = *number;
        ended_by_ = capture_->workload ? *number : 0;
        done_ = true;
      }
    }
  }

  void on_exec() {
    poller_.remove(capture_->workload->exec_fd());
    exec_error_ = capture_->workload->exec_error();
    if (exec_error_) done_ = true;
  }

  void on_delay() {
    std::optional<DelaySchedule::Step> step = delay_->take();
    if (!step) return;
    if (step->on)
      (void)source_->start();
    else
      source_->stop();
  }

  const TraceOptions& options_;
  Sink& out_;
  Env& env_;
  SignalQueue& signals_;
  Poller& poller_;
  ProcFdSource proc_;
  TracedTasks tasks_;
  TaskFds fds_{tasks_, &proc_};
  CallTexts texts_;
  TraceEvents events_;
  std::optional<Capture> capture_;
  std::unique_ptr<PerfSource> rings_;
  std::unique_ptr<BpfSource> bpf_;
  std::optional<MergedSource> merged_;
  std::optional<int> dumped_map_;  // of bpf_
  TraceSource* source_ = nullptr;
  std::unique_ptr<TraceLocations> places_;
  std::optional<TraceView> view_;
  std::optional<DelaySchedule> delay_;
  DrainPace pace_{DrainPace::Clock::now()};
  int wait_ms_ = 0;
  size_t live_tasks_ = 0;
  bool done_ = false, child_ended_ = false;
  int interrupted_by_ = 0;  // signal
  int ended_by_ = 0;        // the same, if there is a command
  std::optional<int> exec_error_;
};

}  // namespace

Result<int> trace_live(const TraceOptions& options, Sink& out, Env& env) {
  SignalQueue signals = TRY(SignalQueue::create());
  Poller poller = TRY(Poller::create());
  return LiveTrace(options, out, env, signals, poller).run();
}

}  // namespace sonde
