// breakpoint enable: switching a breakpoint off and on that threads have inherited, some of which
// sleep while others run, on CPUs that have to be told.
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/breakpoint/watchpoint.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

class BreakpointEnable final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('a', "active", active_, "n",
                 "threads that run while the breakpoint is switched (0)");
    flags.number('p', "passive", passive_, "n",
                 "threads that sleep while the breakpoint is switched (0)");
  }

  Result<> run(BenchmarkRun& run) override {
    int watched = 0;
    Fd breakpoint = TRY(watch_variable(run.env.sys, &watched));
    WorkerThreads threads;
    std::atomic<bool> done = false;
    for (unsigned i = 0; i < passive_; ++i) TRY(threads.start([&] { done.wait(false); }));
    for (unsigned i = 0; i < active_; ++i)
      TRY(threads.start([&] {
        while (!done) {
        }
      }));
    threads.release();
    uint64_t start_ns = monotonic_ns();
    Result<> switched = toggle(breakpoint.get(), run.repeat);
    TimedOperations timed{.gap = false, .elapsed_ns = monotonic_ns() - start_ns};
    done = true;
    done.notify_all();
    threads.join();
    TRY(switched);
    timed.done = {
        fmt::format("Enabled/disabled breakpoint {} time with {} passive and {} active threads",
                    run.repeat, passive_, active_)};
    timed.operations = run.repeat;
    timed.per_second = false;
    run.report.report(timed);
    return {};
  }

 private:
  static Result<> toggle(int breakpoint, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      if (::ioctl(breakpoint, PERF_EVENT_IOC_DISABLE, 0) != 0 ||
          ::ioctl(breakpoint, PERF_EVENT_IOC_ENABLE, 0) != 0)
        return fail(ErrorCode::kFailed, "cannot switch a breakpoint: {}", std::strerror(errno));
    return {};
  }

  unsigned active_ = 0;
  unsigned passive_ = 0;
};

}  // namespace

std::unique_ptr<Benchmark> make_breakpoint_enable() {
  return std::make_unique<BreakpointEnable>();
}

}  // namespace sonde
