// internals evlist-open-close: opening events and mapping their rings, as record does, and closing
// them.
#include <unistd.h>

#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "capture/opening/event_closer.h"
#include "capture/recorders/capture_setup.h"
#include "event/parser/event_parser.h"

namespace sonde {

namespace {

class EvlistOpenClose final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    TargetOptions& target = options_.target;
    flags.boolean('a', "all-cpus", target.all_cpus,
                  "open the events on all CPUs, for every process");
    flags.text('C', "cpu", target.cpus, "cpu", "open the events on these CPUs");
    flags.text('e', "event", event_, "event", "events to open, as `list` names them (dummy)");
    flags.number('i', "iterations", iterations_, "n",
                 "how often to open and close them, for the average (100)");
    flags.number('n', "nr-events", count_, "n", "open this many copies of the events (1)");
    flags.text('p', "pid", target.pids, "pid",
               "open the events for the threads of these processes");
    flags.text('t', "tid", target.tids, "tid",
               "open the events for these threads (default: the benchmark's own)");
    flags.text('u', "uid", target.user, "user",
               "open the events for the processes of this user, a name or an id");
    flags.boolean(0, "per-thread", target.per_thread,
                  "a ring buffer per thread, instead of one per CPU");
  }

  Result<> run(BenchmarkRun& run) override {
    constexpr unsigned kMaxCount = 1 << 16;
    if (count_ == 0 || count_ > kMaxCount)
      return fail(ErrorCode::kUsage, "--nr-events {}: expected 1 to {}", count_, kMaxCount);
    TargetOptions& target = options_.target;
    if (!target.has_task() && !target.has_cpu()) target.tids = std::to_string(::gettid());
    options_.quiet = true;
    TRY(choose_events(run.env));
    TRY(describe(run));
    RunningStats times_us;
    for (unsigned i = 0; i < iterations_; ++i) {
      uint64_t start_ns = monotonic_ns();
      Capture capture = TRY(set_up_capture(options_, false, run.env));
      close_events(capture, run.env.sys);
      times_us.add(static_cast<double>(monotonic_ns() - start_ns) / 1000);
    }
    run.report.line("  Average open-close took: {:.3f} usec (+- {:.3f} usec)", times_us.mean(),
                    times_us.error());
    return {};
  }

 private:
  Result<> choose_events(Env& env) {
    PmuCatalog pmus;
    Tracefs tracefs;
    EventSources sources{.pmus = pmus, .tracefs = tracefs, .tool = env.tool};
    for (unsigned i = 0; i < count_; ++i)
      TRY(parse_events(event_.empty() ? "dummy" : event_, sources, options_.events));
    return {};
  }

  /// Opens them once to count what there is.
  [[nodiscard]] Result<> describe(BenchmarkRun& run) const {
    Capture capture = TRY(set_up_capture(options_, false, run.env));
    size_t fds = 0;
    for (const CaptureEvent& event : capture.events) fds += event.opened.size();
    run.report.line("  Number of cpus:\t{}", capture.target.cpus.size());
    run.report.line("  Number of threads:\t{}", capture.target.threads.size());
    run.report.line("  Number of events:\t{} ({} fds)", capture.events.size(), fds);
    run.report.line("  Number of iterations:\t{}", iterations_);
    close_events(capture, run.env.sys);
    return {};
  }

  RecordOptions options_;
  std::string event_;
  unsigned iterations_ = 100;
  unsigned count_ = 1;
};

}  // namespace

std::unique_ptr<Benchmark> make_internals_evlist_open_close() {
  return std::make_unique<EvlistOpenClose>();
}

}  // namespace sonde
