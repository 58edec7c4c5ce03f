// futex wake: how long it takes to wake threads that sleep on one futex, some at a time.
#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/futex/blocked_threads.h"

namespace sonde {

namespace {

class Wake final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    options_.declare(flags);
    flags.number('w', "nwakes", at_once_, "n", "threads that are woken at once (1)");
  }

  Result<> run(BenchmarkRun& run) override {
    if (at_once_ == 0)
      return fail(ErrorCode::kUsage, "--nwakes 0: at least one thread must be woken at once");
    TRY(options_.prepare());
    const void* address = &word_;
    run.report.line(
        "Run summary [PID {}]: blocking on {} threads (at [{}] futex {}), waking up {} at a "
        "time.\n",
        ::getpid(), options_.threads, options_.sharing(), address, at_once_);
    RunningStats times_ms;
    for (unsigned i = 1; i <= run.repeat; ++i) {
      double ms = TRY(wake_all_ms());
      times_ms.add(ms);
      if (!options_.silent)
        run.report.line("[Run {}]: Wokeup {} of {} threads in {:.4f} ms", i, options_.threads,
                        options_.threads, ms);
    }
    run.report.line("Wokeup {} of {} threads in {:.4f} ms (+-{:.2f}%)", options_.threads,
                    options_.threads, times_ms.mean(), times_ms.error_percent());
    return {};
  }

 private:
  Result<double> wake_all_ms() {
    BlockedThreads threads(word_, options_);
    TRY(threads.start());
    uint64_t start_ns = monotonic_ns();
    for (long woken = 0; woken < options_.threads;) woken += word_.wake(options_.flags(), at_once_);
    uint64_t elapsed_ns = monotonic_ns() - start_ns;
    threads.join();
    return static_cast<double>(elapsed_ns) / 1e6;
  }

  FutexLoadOptions options_;
  FutexWord word_;
  unsigned at_once_ = 1;
};

}  // namespace

std::unique_ptr<Benchmark> make_futex_wake() {
  return std::make_unique<Wake>();
}

}  // namespace sonde
