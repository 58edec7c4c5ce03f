#include "stat/run.h"

#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "analysis/counts/count_series.h"
#include "base/process/own_command_line.h"
#include "base/text.h"
#include "capture/counters/count_recorder.h"
#include "capture/counters/count_run.h"
#include "capture/counters/machine_pace.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/freeze_on_smi.h"
#include "capture/synthesis/session_features.h"
#include "stat/compare.h"
#include "stat/output.h"
#include "stat/runs.h"

namespace sonde {
namespace {

constexpr double kSecondsPerNs = 1e-9;

CpuLocations places_of_this_machine() {
  uint32_t cpus = present_cpu_count();
  CpuTopology topology = read_cpu_topology("/sys", cpus);
  return {&topology, read_numa("/sys"), read_caches("/sys", cpus), read_clusters("/sys", cpus)};
}

std::string title_of(const TargetOptions& target) {
  if (!target.pids.empty()) return fmt::format("process id '{}'", target.pids);
  if (!target.tids.empty()) return fmt::format("thread id '{}'", target.tids);
  if (target.all_cpus) return "'system wide'";
  if (!target.cpus.empty()) return fmt::format("'CPU(s) {}'", target.cpus);
  return fmt::format("'{}'", join(target.command, " "));
}

CountFileMode file_mode(view::CountGrouping grouping) {
  using view::CountGrouping;
  switch (grouping) {
    case CountGrouping::kCpu:
      return CountFileMode::kNone;
    case CountGrouping::kSocket:
      return CountFileMode::kSocket;
    case CountGrouping::kDie:
      return CountFileMode::kDie;
    case CountGrouping::kCore:
      return CountFileMode::kCore;
    case CountGrouping::kNode:
      return CountFileMode::kNode;
    case CountGrouping::kThread:
      return CountFileMode::kThread;
    default:
      return CountFileMode::kGlobal;
  }
}

class StatSession {
 public:
  StatSession(const StatOptions& options, bool recording, Env& env, SignalQueue& signals,
              StatOutput& output)
      : options_(options),
        recording_(recording),
        env_(env),
        output_(output),
        runs_(options, env, signals) {}

  Result<int> run() {
    if (!options_.save.empty()) TRY(warm_up());
    bool forever = options_.runs == 0;
    for (int index = 0; forever || index < options_.runs; ++index) {
      if (options_.count.verbose > 0 && options_.runs != 1)
        env_.err.print("[ {} stat: executing run #{} ... ]\n", env_.tool, index + 1);
      TRY(run_once());
      if (last_.interrupted_by != 0) break;
      if (!forever || options_.count.interval_ms > 0) continue;
      write_everything();
      series_->clear();
      elapsed_s_.clear();
    }
    if (recorder_) TRY(recorder_->finish());
    if (!options_.save.empty()) TRY(save());
    if (!elapsed_s_.empty() && (options_.count.interval_ms == 0 || options_.summary))
      write_everything();
    output_.sink().flush();
    if (int error = output_.sink().failed(); error != 0)
      return fail(ErrorCode::kIo, "cannot write the counts: {}", std::strerror(error));
    runs_.counters().close();
    return exit_status();
  }

 private:
  /// As in a comparison, for which these runs are saved.
  Result<> warm_up() {
    TRY(run_once());
    series_->clear();
    elapsed_s_.clear();
    kept_.emplace();
    return {};
  }

  Result<> save() {
    if (exit_status() != 0)
      return fail(ErrorCode::kFailed, "the command ended with status {}: {} is not written",
                  exit_status(), options_.save);
    Baseline baseline = describe_this_machine(options_);
    kept_->command = baseline.runs.command;
    baseline.runs = std::move(*kept_);
    return save_baseline(baseline, options_.save);
  }

  Result<> run_once() {
    if (kept_) kept_->pace_ns.push_back(static_cast<double>(TRY(measure_machine_pace_ns())));
    deltas_ = {};
    intervals_shown_ = 0;
    auto opened = [this]() -> Result<> {
      if (!series_) prepare();
      return recording_ ? begin_recording() : Result<>{};
    };
    auto interval = [this](uint64_t now_ns) { return on_interval(now_ns); };
    last_ = TRY(runs_.once(options_.count, {opened, interval}));
    TRY(on_end());
    report_how_it_ended();
    return runs_.after();
  }

  /// Sets up what is known once the first counters are open.
  void prepare() {
    CounterSet& counters = runs_.counters();
    std::vector<int> cpus = counters.target().cpus;
    for (const CaptureEvent& event : counters.events())
      cpus.insert(cpus.end(), event.parsed.cpus.begin(), event.parsed.cpus.end());
    std::vector<CountedThread> threads;
    for (const ThreadEntry& thread : counters.target().threads)
      threads.push_back({thread.tid, thread.comm});
    bool needs_places = options_.grouping != view::CountGrouping::kAll ||
                        std::ranges::any_of(runs_.events(), &CountedEvent::per_package);
    CpuLocations places = needs_places ? places_of_this_machine() : CpuLocations();
    const TargetOptions& target = options_.count.target;
    CountSettings settings{
        .scale = options_.scale,
        .merge_aliases = !options_.no_merge,
        .merge_core_kinds = options_.hybrid_merge,
        .percore_show_thread = options_.percore_show_thread,
        .skip_idle_threads = options_.grouping == view::CountGrouping::kThread && target.all_cpus,
        .metrics = {options_.metrics, options_.formulas}};
    CountUnits units(options_.grouping, cpus, threads, places);
    CountUnits cores(view::CountGrouping::kCore, cpus, threads, places);
    series_.emplace(runs_.events(), units, cores, places, settings);
    if (options_.count.interval_ms > 0)
      whole_.emplace(runs_.events(), units, cores, places, settings);
    if (!options_.save.empty()) single_.emplace(runs_.events(), units, cores, places, settings);
    writer_ = make_stat_writer(options_, options_.grouping, options_.count.interval_ms > 0,
                               output_.sink());
  }

  Result<> begin_recording() {
    recorder_.emplace(env_);
    CountFileSettings settings;
    settings.output.path = options_.output;
    settings.mode = file_mode(options_.grouping);
    settings.interval_ms = options_.count.interval_ms;
    settings.scale = options_.scale;
    settings.command_line = own_command_line();
    for (const CountedEvent& event : runs_.events())
      settings.units.push_back({event.unit, event.scale});
    return recorder_->begin(runs_.counters(), std::move(settings));
  }

  Result<> on_interval(uint64_t now_ns) {
    CountOutcome so_far;
    so_far.elapsed_ns = now_ns;
    std::vector<EventReadings> readings = runs_.read(so_far);
    if (recorder_)
      TRY(recorder_->round(runs_.counters(), readings, CountRoundKind::kInterval, now_ns));
    show_interval(readings, now_ns);
    return {};
  }

  void show_interval(const std::vector<EventReadings>& readings, uint64_t now_ns) {
    ++intervals_shown_;
    series_->clear();
    series_->add(deltas_.take(readings, runs_.events()), options_.count.interval_ms * 1'000'000);
    view::CountPage page = series_->page();
    page.time_ns = now_ns;
    writer_->page(page);
    output_.sink().flush();
  }

  Result<> on_end() {
    std::vector<EventReadings> readings = runs_.read(last_);
    report_counts(readings);
    bool intervals = options_.count.interval_ms > 0;
    if (recorder_)
      TRY(recorder_->round(runs_.counters(), readings,
                           intervals ? CountRoundKind::kInterval : CountRoundKind::kFinal,
                           last_.elapsed_ns));
    if (intervals && !reached_interval_count()) show_interval(readings, last_.elapsed_ns);
    (intervals ? *whole_ : *series_).add(readings, last_.elapsed_ns);
    elapsed_s_.push_back(static_cast<double>(last_.elapsed_ns) * kSecondsPerNs);
    if (kept_) keep(readings);
    return {};
  }

  void keep(const std::vector<EventReadings>& readings) {
    single_->clear();
    single_->add(readings, last_.elapsed_ns);
    kept_->add(single_->page(), runs_.events(), {last_.elapsed_ns, last_.user_ns, last_.system_ns});
  }

  [[nodiscard]] bool reached_interval_count() const {
    uint64_t most = options_.count.interval_count;
    return most != 0 && intervals_shown_ >= most;
  }

  void write_everything() {
    view::CountSummary summary;
    const std::vector<uint32_t>& programs = options_.count.bpf_programs;
    summary.title = programs.empty() ? title_of(options_.count.target)
                                     : fmt::format("'BPF program(s) {}'", fmt::join(programs, ","));
    summary.command = options_.count.target.command;
    summary.runs = static_cast<uint64_t>(options_.runs);
    summary.elapsed_s = elapsed_s_;
    RunningStats elapsed;
    for (double run : elapsed_s_) elapsed.add(run);
    summary.mean_s = elapsed.mean();
    summary.error_s = elapsed.error();
    if (runs_.counters().target().is_command() && options_.runs == 1)
      summary.cpu = {static_cast<double>(last_.user_ns) * kSecondsPerNs,
                     static_cast<double>(last_.system_ns) * kSecondsPerNs};
    view::CountPage page = (whole_ ? *whole_ : *series_).page();
    page.is_summary = whole_.has_value();
    writer_->begin(summary);
    writer_->page(page);
    writer_->end(summary);
    output_.sink().flush();
  }

  /// -v: the kernel's raw readings.
  void report_counts(const std::vector<EventReadings>& readings) {
    if (options_.count.verbose == 0) return;
    for (size_t i = 0; i < readings.size(); ++i) {
      if (!readings[i].supported) {
        env_.err.print("failed to read counter {}\n", runs_.events()[i].name);
        continue;
      }
      CounterReading sum;
      for (const CounterReading& reading : readings[i].values) {
        sum.value += reading.value;
        sum.enabled_ns += reading.enabled_ns;
        sum.running_ns += reading.running_ns;
      }
      env_.err.print("{}: {} {} {}\n", runs_.events()[i].name, sum.value, sum.enabled_ns,
                     sum.running_ns);
    }
  }

  /// As a shell would: "sh: Killed".
  void report_how_it_ended() {
    if (!last_.wait_status || !WIFSIGNALED(*last_.wait_status) || options_.count.quiet) return;
    env_.err.print("{}: {}\n", options_.count.target.command.front(),
                   ::strsignal(WTERMSIG(*last_.wait_status)));
  }

  [[nodiscard]] int exit_status() const {
    if (last_.interrupted_by != 0) return 128 + last_.interrupted_by;
    if (!last_.wait_status) return 0;
    // A command that we ended because its time was up has not failed.
    bool ended_by_us = options_.count.timeout_ms > 0 && WIFSIGNALED(*last_.wait_status) &&
                       WTERMSIG(*last_.wait_status) == SIGTERM;
    return ended_by_us ? 0 : shell_status(*last_.wait_status);
  }

  const StatOptions& options_;
  bool recording_;
  Env& env_;
  StatOutput& output_;
  StatRuns runs_;
  std::optional<CountSeries> series_, whole_;  // one interval; all of them
  std::optional<CountSeries> single_;          // one run, to be saved
  std::optional<MeasuredRuns> kept_;           // --save
  CountDeltas deltas_;
  std::unique_ptr<render::CountWriter> writer_;
  std::optional<CountRecorder> recorder_;
  std::vector<double> elapsed_s_;
  uint64_t intervals_shown_ = 0;
  CountOutcome last_;
};

}  // namespace

Result<int> run_stat(const StatOptions& options, bool recording, Env& env) {
  if (options.list_root_ports) {
    env.out.write_lines(root_port_list(options.root_ports));
    return 0;
  }
  if (options.compares()) return run_stat_comparison(options, env);
  constexpr uint64_t kShortTimeoutMs = 100;
  if (options.count.timeout_ms > 0 && options.count.timeout_ms < kShortTimeoutMs &&
      !options.count.quiet)
    env.err.print(
        "--timeout: in less than 100 ms, starting and reading the counters may be a large part of "
        "it\n");
  if (recording) {
    OutputOptions where;
    where.path = options.output;
    TRY(RecordOutput::check(where, env.out_fd));
  }
  std::optional<FreezeOnSmi> frozen;
  if (options.freeze_on_smi) frozen.emplace(TRY(FreezeOnSmi::set()));
  StatOutput output = TRY(StatOutput::open(options, env, recording));
  SignalQueue signals = TRY(SignalQueue::create());
  return StatSession(options, recording, env, signals, output).run();
}

}  // namespace sonde
