#include "capture/recorders/recorder.h"
#include "capture/opening/owned_events.h"

#include <linux/perf_event.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/memory_shortage.h"
#include "capture/control/control_channel.h"
#include "capture/control/control_commands.h"
#include "capture/control/delay_schedule.h"
#include "capture/control/run_end.h"
#include "capture/control/signal_queue.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/event_closer.h"
#include "capture/opening/event_switch.h"
#include "capture/opening/lost_counts.h"
#include "capture/recorders/aggregate_recorder.h"
#include "capture/recorders/capture_setup.h"
#include "capture/recorders/futex_recorder.h"
#include "capture/recorders/off_cpu_recorder.h"
#include "capture/recorders/record_output.h"
#include "capture/recorders/record_scan.h"
#include "capture/recorders/record_summary.h"
#include "capture/recorders/recorder_priority.h"
#include "capture/recorders/switch_trigger.h"
#include "capture/rings/drain_pace.h"
#include "capture/rings/poller.h"
#include "capture/rings/ring_drain.h"
#include "capture/rings/stream_threads.h"
#include "capture/rings/stream_writer.h"
#include "capture/synthesis/bpf_watch.h"
#include "capture/synthesis/build_id_journal.h"
#include "capture/synthesis/object_caching.h"
#include "capture/synthesis/preamble.h"
#include "capture/synthesis/recording_features.h"
#include "capture/unwinding/kernel_unwinding.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

class Recorder {
 public:
  Recorder(const RecordOptions& options, Env& env, SignalQueue& signals, Poller& poller,
           Capture& capture)
      : options_(options),
        env_(env),
        signals_(signals),
        poller_(poller),
        capture_(capture),
        events_(env.sys, capture.events),
        commands_(
            {[this](bool on) { switch_events(on); },
             [this](std::string_view name, bool on) { return events_.set_one(name, on); },
             [this](std::string_view text) { say(options_, env_, text); },
             capture.trace && capture.trace->snapshot_bytes ? [this] { keep(take_snapshot()); }
                                                            : std::function<void()>()},
            env, capture.events),
        scan_(capture.attrs(),
              {.objects = options.build_ids.collect,
               // Nobody decodes a trace at once: whatever was mapped may have been executed.
               .all_objects = options.build_ids.all || capture.trace.has_value(),
               .call_chains = options.sampling.call_graph != CallGraphMode::kNone ||
                              options.off_cpu.enabled || options.futex.enabled,
               .hold_files = options.build_ids.collect}),
        drain_(scan_, options) {}

  Result<int> run() {
    TRY(begin_output());
    if (options_.sampling.call_graph == CallGraphMode::kBpf) {
      unwinding_ =
          TRY(KernelUnwinding::open(capture_, event_descriptions(capture_), options_, env_));
      drain_.set_joiner(&unwinding_->joiner());
    }
    if (options_.off_cpu.enabled) off_cpu_.emplace(TRY(OffCpuRecorder::open(capture_, options_)));
    if (options_.futex.enabled) futex_.emplace(TRY(FutexRecorder::open(capture_, options_)));
    if (options_.sampling.aggregation.enabled)
      aggregate_.emplace(
          TRY(AggregateRecorder::open(env_.sys, capture_, unwinding_.get(), options_)));
    TRY(watch());
    keep(raise_recorder_priority(options_));
    keep(begin_file());
    start();
    if (main_ && main_->has_thread()) put_reader_first(options_);
    while (!done_) {
      if (poller_.wait(wait_ms_)) ++wakeups_;
      keep_within_memory([this] { return read_what_came(); });
    }
    return finish();
  }

 private:
  // --- the steps of a recording, in order ---

  Result<> read_what_came() {
    keep(read_rings(false));
    if (snapshot_wanted_) keep(take_snapshot());
    if (window_over_) keep(write_window());
    if (!done_) keep(check_limits());
    if (!done_) keep(settle());
    return {};
  }

  Result<> begin_output() {
    std::vector<StreamThreads::Layout> layouts;
    if (options_.output.threads)
      layouts = TRY(StreamThreads::plan(*options_.output.threads, capture_));
    auto page = static_cast<uint32_t>(::sysconf(_SC_PAGESIZE));
    output_.emplace(
        TRY(RecordOutput::create({.output = options_.output,
                                  .switching = options_.switch_output,
                                  .stdout_fd = env_.out_fd,
                                  .mmap_length = static_cast<uint32_t>(capture_.ring_pages) * page,
                                  .directory_streams = static_cast<uint32_t>(layouts.size()),
                                  .sys = &env_.sys})));
    features_ = TRY(initial_features(capture_, options_, env_.tool));
    mark_present(features_.features);
    if (!layouts.empty())
      threads_.emplace(std::move(layouts), *capture_.rings, output_->writer(), drain_);
    return {};
  }

  /// Registers everything that may wake us.
  Result<> watch() {
    poller_.add(signals_.fd(), [this](auto) { on_signals(); });
    watch_rings();
    if (threads_) poller_.add(threads_->failure_fd(), [this](auto) { done_ = true; });
    if (capture_.workload) poller_.add(capture_.workload->exec_fd(), [this](auto) { on_exec(); });
    if (aggregate_)
      poller_.add(aggregate_->fd(), [this](auto) { window_over_ |= aggregate_->is_due(); });
    if (options_.delay.any()) {
      delay_.emplace(TRY(DelaySchedule::create(options_.delay)));
      poller_.add(delay_->fd(), [this](auto) { on_delay(); });
    }
    if (options_.control.any()) {
      control_.emplace(TRY(ControlChannel::open(options_.control)));
      poller_.add(control_->fd(), [this](auto) { on_control(); });
    }
    if (options_.switch_output.time_ms > 0) {
      switch_timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
      poller_.add(switch_timer_.get(), [this](auto) { on_switch_timer(); });
    }
    if (options_.sampling.bpf_events && !output_->is_pipe()) watch_bpf();
    if (!options_.switch_output_events.empty()) {
      trigger_.emplace(TRY(SwitchTrigger::open(options_.switch_output_events, env_)));
      for (int fd : trigger_->fds())
        poller_.add(fd, [this](auto) { switch_wanted_ |= trigger_->take(); });
    }
    return {};
  }

  /// Watches for programs loaded while we record. Not for a pipe: its features are written before.
  void watch_bpf() {
    Result<std::vector<int>> cpus = online_cpus();
    if (!cpus) return;
    bpf_watch_.emplace(BpfWatch::open(env_.sys, *cpus));
    for (int fd : bpf_watch_->fds()) poller_.add(fd, [this](auto) { keep_bpf_programs(); });
  }

  void keep_bpf_programs() {
    for (uint32_t id : bpf_watch_->take()) add_bpf_program(id, features_);
  }

  /// Each ring wakes us through one event. When tasks are recorded, every instance of the first
  /// event is watched: it hangs up when its task ends, and when all have, the recording ends too.
  void watch_rings() {
    bool watch_tasks = capture_.target.kind == Target::Kind::kTasks;
    if (watch_tasks) {
      live_tasks_ = capture_.events.front().opened.size();
      for (const OpenedEvent& opened : capture_.events.front().opened)
        poller_.add(opened.fd, [this, fd = opened.fd](Poller::Ready ready) {
          if (!ready.hung_up) return;
          poller_.remove(fd);
          if (--live_tasks_ == 0) done_ = true;
        });
      return;
    }
    if (threads_) return;
    for (const CaptureRing& ring : capture_.rings->rings())
      if (!ring.buffer.is_backward())
        poller_.add(ring.buffer.fd(), [this, fd = ring.buffer.fd()](Poller::Ready ready) {
          if (ready.hung_up) poller_.remove(fd);
        });
  }

  /// Writes the file's header and what is known before the first event.
  Result<> begin_file() {
    std::vector<EventDesc> events = event_descriptions(capture_);
    if (options_.transform != nullptr) options_.transform->begin(events);
    main_.emplace(output_->writer().main(),
                  StreamWriter::Options{.blocks = options_.output.aio_blocks,
                                        .transform = options_.transform});
    TRY(output_->writer().begin(std::move(events), features_.features));
    ByteBuilder records, state, end;
    write_event_records(capture_, records);
    if (!options_.synthesis.at_end) synthesise(aggregate_ ? state : records);
    TRY(write_own(records));
    TRY(write_compressed(state));
    encode_empty(abi::kRecordFinishedInit, end);
    TRY(write_own(end));
    return settle(true);
  }

  /// -z compresses what comes from rings, and with it this: with sums, what already ran is a large
  /// part of the file.
  Result<> write_compressed(const ByteBuilder& records) {
    if (records.size() == 0) return {};
    scan_.piece(records.view());
    return main_->ring(records.view(), {});
  }

  void synthesise(ByteBuilder& records) {
    synthesise_state(capture_, options_, env_.losses, records);
  }

  void start() {
    if (done_) return;
    limit_wait();
    if (threads_) threads_->start();
    // A command's events are enabled by its exec; others now. With -D they wait.
    events_on_ = !options_.delay.any();
    if (options_.delay.any())
      say(options_, env_, "Events disabled");
    else if (!capture_.target.is_command())
      switch_events(true);
    if (trigger_) trigger_->enable();
    if (capture_.workload) capture_.workload->start();
    if (delay_) delay_->start();
    if (switch_timer_.valid()) arm_switch_timer();
  }

  void switch_events(bool on) {
    events_on_ = on;
    on ? events_.enable() : events_.disable();
    set_measuring(on ? FollowPhase::kOn : FollowPhase::kOff);
  }

  void set_measuring(FollowPhase phase) {
    if (off_cpu_) off_cpu_->set(phase);
    if (futex_) futex_->set(phase);
  }

  Result<int> finish() {
    if (capture_.workload && !child_ended_) capture_.workload->signal(SIGTERM);
    RunEnd end(capture_.workload ? &*capture_.workload : nullptr, SIGTERM, ended_by_, env_);
    if (!main_) {  // the next file of --switch-output could not be begun
      close_events(capture_, env_.sys);
      return outcome();
    }
    if (options_.trace.snapshot_at_end) keep(take_snapshot());
    events_.disable();
    events_on_ = false;
    set_measuring(FollowPhase::kOver);
    if (threads_) keep(threads_->stop());
    keep_within_memory([this] { return read_the_rest(); });
    if (!options_.quiet && !exec_error_)
      env_.err.print("[ {} record: Woken up {} times to write data ]\n", env_.tool, wakeups_);
    keep_within_memory([this] { return end_file(); });
    if (unwinding_) unwinding_->report("record", options_, env_);
    report_losses();
    if (!failure_ && !exec_error_) report_captured();
    close_events(capture_, env_.sys);
    return outcome();
  }

  Result<> read_the_rest() {
    if (bpf_watch_) keep_bpf_programs();
    keep(read_rings(true));
    keep(read_backward_rings());
    keep(write_window());
    keep(end_off_cpu());
    keep(end_futex());
    return {};
  }

  /// Writes what follows the last event, and the file's features.
  Result<> end_file() {
    ByteBuilder records;
    lost_ = take_losses(records);
    if (options_.synthesis.at_end) {
      synthesise(records);
      encode_empty(abi::kRecordFinishedInit, records);
    }
    keep(write_own(records));
    keep(write_interpreted_files());
    scan_.end_round();
    if (output_->is_pipe()) keep(write_build_ids(SIZE_MAX));
    keep(main_->flush());
    Features features = features_.features;
    if (scan_.counts().has_time())
      features.sample_time = SampleTimeRange{scan_.counts().first_ns, scan_.counts().last_ns};
    if (options_.build_ids.collect) features.build_ids = build_ids_.all(scan_);
    if (unwinding_) features.interpreted_files = unwinding_->interpreted_files();
    add_trace_index(features);
    features.present.clear();
    mark_present(features);
    bytes_written_ = output_->writer().bytes_written();
    keep(output_->writer().finish(features));
    if (options_.build_ids.collect && options_.build_ids.update_cache)
      keep_hit_objects(options_.build_ids, scan_.hits(), features.build_ids);
    if (options_.switch_output.enabled || options_.output.timestamp_name)
      TRY(output_->rename_finished());
    return {};
  }

  // --- reading ---

  Result<> end_off_cpu() {
    if (!off_cpu_) return {};
    ByteBuilder records;
    TRY(off_cpu_->write_rest(records));
    off_cpu_->report_lost(options_, env_);
    return write_own(records);
  }

  /// The sums of samples so far.
  Result<> write_window() {
    window_over_ = false;
    if (!aggregate_) return {};
    ByteBuilder records;
    aggregate_->write(records);
    if (records.size() == 0) return {};
    TRY(write_compressed(records));
    TRY(end_round());
    return settle(true);
  }

  /// A pipe has no section of them: they come before their round ends, and so before anybody looks
  /// at its samples.
  Result<> write_interpreted_files() {
    if (!unwinding_ || !output_->is_pipe()) return {};
    ByteBuilder names;
    encode_interpreted_updates(unwinding_->new_interpreted_files(),
                               capture_.events.front().opened.front().id, names);
    return write_own(names);
  }

  Result<> end_round() {
    TRY(write_interpreted_files());
    ByteBuilder round;
    encode_empty(abi::kRecordFinishedRound, round);
    TRY(main_->own(round.view()));
    scan_.end_round();
    return write_build_ids();
  }

  /// Of the objects that were hit: a recorder that is killed writes no section of them.
  Result<> write_build_ids(size_t most = BuildIdJournal::kMostAtOnce) {
    if (!options_.build_ids.collect) return {};
    ByteBuilder records;
    build_ids_.write_new(scan_, most, records);
    return write_compressed(records);
  }

  /// See StreamWriter.
  Result<> settle(bool at_once = false) {
    wait_ms_ = sooner_ms(wait_ms_, TRY(main_->settle(at_once)));
    return {};
  }

  Result<> end_futex() {
    if (!futex_) return {};
    ByteBuilder records;
    TRY(futex_->write(records));
    futex_->report_lost(options_, env_);
    return write_own(records);
  }

  Result<> read_rings(bool all) {
    if (threads_ && !all) {
      wait_ms_ = -1;
      limit_wait();
      return {};
    }
    size_t most = 0;
    size_t traced = 0;
    for (size_t i = 0; i < capture_.rings->rings().size(); ++i) {
      most = std::max(most, TRY(drain_.forward(capture_.rings->rings()[i], *main_, all)));
      if (capture_.trace_rings)
        traced += TRY(capture_.trace_rings->read(i, events_on_ && !all, trace_output()));
    }
    wait_ms_ = pace_.next_wait_ms(DrainPace::Clock::now(), most,
                                  capture_.rings->rings().front().buffer.data_size());
    limit_wait();
    ByteBuilder waits;
    if (off_cpu_) off_cpu_->write_long(waits);
    TRY(write_own(waits));
    // Sums come with times of their whole window.
    return most + traced + waits.size() == 0 || aggregate_ ? Result<>{} : end_round();
  }

  TraceRings::Output trace_output() { return {*main_, output_->writer().main()}; }

  Result<> take_snapshot() {
    snapshot_wanted_ = false;
    if (!capture_.trace_rings || !capture_.trace_rings->takes_snapshots()) return {};
    if (options_.verbose > 0) say(options_, env_, "a snapshot of the instruction trace is written");
    return capture_.trace_rings->take_snapshot(events_on_, trace_output());
  }

  void add_trace_index(Features& features) {
    if (!capture_.trace_rings) return;
    features.auxtrace_index = capture_.trace_rings->index();
    capture_.trace_rings->restart();
  }

  /// A container that is gone took its files along: they must be seen, and held, before that.
  void limit_wait() {
    constexpr int kHoldMs = 100;
    bool holds = options_.build_ids.collect && options_.build_ids.update_cache;
    wait_ms_ = sooner_ms(wait_ms_, holds ? kHoldMs : DrainPace::kMostMs);
  }

  Result<> read_backward_rings() {
    if (!capture_.rings->any_backward()) return {};
    capture_.rings->pause_backward(true);
    for (CaptureRing& ring : capture_.rings->rings()) TRY(drain_.backward(ring, *main_));
    capture_.rings->pause_backward(false);
    return {};
  }

  /// Writes records of our own; the scan learns mappings from them too.
  Result<> write_own(const ByteBuilder& records) {
    if (records.size() == 0) return {};
    scan_.piece(records.view());
    return main_->own(records.view());
  }

  Result<> check_limits() {
    uint64_t bytes = output_->writer().bytes_written();
    uint64_t most = options_.output.max_size_bytes;
    if (most != 0 && bytes >= most) {
      say(options_, env_,
          fmt::format("[ {} record: perf size limit reached ({} KB), stopping session ]", env_.tool,
                      bytes >> 10));
      done_ = true;
      return {};
    }
    uint64_t per_file = options_.switch_output.size_bytes;
    if (switch_wanted_ || (per_file != 0 && bytes >= per_file)) return switch_file();
    return {};
  }

  Result<> switch_file() {
    switch_wanted_ = false;
    TRY(read_backward_rings());
    TRY(write_window());
    TRY(end_file_for_switch());
    main_.reset();
    TRY(output_->next());
    scan_.restart();
    build_ids_.restart();
    return begin_file();
  }

  /// Appends what the events lost, as the kernel counted it; returns how many records found no room
  /// in the rings so far. They are told of by LOST records as well, unless they were the last ones.
  uint64_t take_losses(ByteBuilder& records) {
    told_lost_ += scan_.counts().lost_events;
    lost_samples_ += scan_.counts().lost_samples;  // without those that we are about to write
    return std::max(lost_counts_.read(env_.sys, capture_.events, records), told_lost_);
  }

  Result<> end_file_for_switch() {
    ByteBuilder records;
    (void)take_losses(records);
    if (options_.synthesis.at_end) synthesise(records);
    TRY(write_own(records));
    TRY(main_->flush());
    Features features = features_.features;
    if (scan_.counts().has_time())
      features.sample_time = SampleTimeRange{scan_.counts().first_ns, scan_.counts().last_ns};
    if (options_.build_ids.collect) features.build_ids = build_ids_.all(scan_);
    if (unwinding_) {
      features.interpreted_files = unwinding_->interpreted_files();
      unwinding_->restart();
    }
    add_trace_index(features);
    mark_present(features);
    samples_before_ += scan_.counts().samples;
    lost_aux_before_ += scan_.counts().lost_aux;
    TRY(output_->writer().finish(features));
    std::string name = TRY(output_->rename_finished());
    say(options_, env_, fmt::format("[ {} record: Dump {} ]", env_.tool, name));
    return {};
  }

  // --- what happens during the recording ---

  void on_signals() {
    while (std::optional<int> number = signals_.next()) {
      if (*number == SIGUSR2) {
        snapshot_wanted_ |= options_.trace.snapshot;
        switch_wanted_ |= options_.switch_output.enabled && options_.switch_output.on_signal;
      } else if (*number == SIGCHLD) {
        if (!capture_.workload || !capture_.workload->reap(false)) continue;
        child_ended_ = done_ = true;
      } else {
        ended_by_ = *number;
        done_ = true;
      }
    }
  }

  void on_exec() {
    poller_.remove(capture_.workload->exec_fd());
    exec_error_ = capture_.workload->exec_error();
    if (exec_error_) done_ = true;
  }

  void on_delay() {
    std::optional<DelaySchedule::Step> step = delay_->take();
    if (step) commands_.set_enabled(step->on);
  }

  void on_control() {
    if (!commands_.obey(*control_)) done_ = true;
    if (control_->ended()) poller_.remove(control_->fd());
  }

  void arm_switch_timer() {
    uint64_t ms = options_.switch_output.time_ms;
    timespec period{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1'000'000)};
    itimerspec when{period, period};
    ::timerfd_settime(switch_timer_.get(), 0, &when, nullptr);
  }

  void on_switch_timer() {
    uint64_t expirations = 0;
    if (::read(switch_timer_.get(), &expirations, sizeof expirations) > 0) switch_wanted_ = true;
  }

  // --- the end ---

  /// The first failure ends the recording; the file is completed nevertheless.
  void keep(Result<> result) {
    if (result) return;
    if (!failure_) failure_ = std::move(result).error();
    done_ = true;
  }

  /// The same if memory does not suffice: what was written so far remains a recording.
  template <typename Step>
  void keep_within_memory(const Step& step) {
    keep(within_memory("the recording", step));
  }

  void report_losses() {
    if (lost_ > 0) env_.losses.add(LossKind::k_lost_by_kernel, lost_);
    if (uint64_t cut = lost_aux_before_ + scan_.counts().lost_aux; cut > 0)
      env_.losses.add(LossKind::k_lost_aux, cut);
    if (lost_samples_ > 0) env_.losses.add(LossKind::k_lost_samples, lost_samples_);
  }

  void report_captured() {
    if (options_.quiet) return;
    if (aggregate_) aggregate_->report(options_, env_);
    env_.err.print(
        "{}\n",
        summary_line(env_.tool, {.file = output_->shown_name(),
                                 .bytes = bytes_written_,
                                 .samples = samples_before_ + scan_.counts().samples,
                                 .compression_in_out = output_->writer().compression_in_out()}));
    if (options_.made == nullptr) return;
    for (const std::string& note : options_.made->filter_notes())
      env_.err.print("[ {} record: {} ]\n", env_.tool, note);
  }

  Result<int> outcome() {
    if (exec_error_)
      return fail(ErrorCode::kFailed, "Failed to collect '{}' for the '{}' workload: {}",
                  event_names(), options_.target.command.front(), std::strerror(*exec_error_));
    if (failure_) return std::unexpected(*failure_);
    if (ended_by_ != 0) return 128 + ended_by_;
    if (!capture_.workload || !child_ended_) return 0;
    std::optional<int> status = capture_.workload->reap(true);
    return status ? shell_status(*status) : 0;
  }

  [[nodiscard]] std::string event_names() const {
    std::string names;
    for (const CaptureEvent& event : capture_.events) {
      if (event.is_added) continue;
      if (!names.empty()) names += ",";
      names += event.parsed.name;
    }
    return names;
  }

  const RecordOptions& options_;
  Env& env_;
  SignalQueue& signals_;
  Poller& poller_;
  Capture& capture_;
  EventSwitch events_;
  ControlCommands commands_;
  RecordScan scan_;
  RingDrain drain_;
  BuildIdJournal build_ids_;
  RecordingFeatures features_;
  std::optional<RecordOutput> output_;
  std::optional<StreamWriter> main_;
  std::optional<StreamThreads> threads_;
  std::optional<SwitchTrigger> trigger_;
  std::optional<BpfWatch> bpf_watch_;
  std::unique_ptr<KernelUnwinding> unwinding_;
  std::optional<OffCpuRecorder> off_cpu_;
  std::optional<FutexRecorder> futex_;
  std::optional<AggregateRecorder> aggregate_;
  std::optional<DelaySchedule> delay_;
  std::optional<ControlChannel> control_;
  Fd switch_timer_;

  DrainPace pace_{DrainPace::Clock::now()};
  int wait_ms_ = -1;
  bool done_ = false;
  bool child_ended_ = false;
  bool switch_wanted_ = false;
  bool snapshot_wanted_ = false;
  bool window_over_ = false;
  bool events_on_ = false;
  int ended_by_ = 0;  // signal
  std::optional<int> exec_error_;
  std::optional<Error> failure_;
  size_t live_tasks_ = 0;
  uint64_t wakeups_ = 0;
  LostCountReader lost_counts_;
  uint64_t lost_ = 0;            // records that found no room in the rings
  uint64_t told_lost_ = 0;       // of them, as LOST records tell
  uint64_t lost_samples_ = 0;    // that the processor dropped
  uint64_t samples_before_ = 0;  // in files already finished
  uint64_t lost_aux_before_ = 0;
  uint64_t bytes_written_ = 0;
};

}  // namespace

Result<int> run_recording(const RecordOptions& options, Env& env) {
  TRY(RecordOutput::check(options.output, env.out_fd));
  // Before any thread is started, so that signals are delivered only to the queue.
  SignalQueue signals = TRY(SignalQueue::create());
  Poller poller = TRY(Poller::create());
  bool pipe_output = RecordOutput::is_pipe(options.output, env.out_fd);
  Capture capture = TRY(set_up_capture(options, pipe_output, env));
  return Recorder(options, env, signals, poller, capture).run();
}

}  // namespace sonde
