// futex wake-parallel: several threads wake others at the same time, each its share: they compete
// for the part of the kernel's hash table where the futex is.
#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/futex/blocked_threads.h"

namespace sonde {

namespace {

class WakeParallel final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    options_.declare(flags);
    flags.number('w', "nwakers", wakers_, "n",
                 "threads that wake the others (default: as many as sleep)");
  }

  Result<> run(BenchmarkRun& run) override {
    TRY(options_.prepare());
    if (wakers_ == 0 || wakers_ > options_.threads) wakers_ = options_.threads;
    if (options_.threads % wakers_ != 0)
      return fail(ErrorCode::kFailed, "--nwakers {}: {} threads do not divide among them evenly",
                  wakers_, options_.threads);
    share_ = options_.threads / wakers_;
    const void* address = &word_;
    run.report.line(
        "Run summary [PID {}]: blocking on {} threads (at [{}] futex {}), {} threads waking up {} "
        "at a time.\n",
        ::getpid(), options_.threads, options_.sharing(), address, wakers_, share_);
    RunningStats averages_ms;
    for (unsigned i = 1; i <= run.repeat; ++i) {
      RunningStats times_ms = TRY(wake_all_ms());
      averages_ms.add(times_ms.mean());
      if (!options_.silent) run.report.line("[Run {}]: {}", i, text_of(times_ms));
    }
    run.report.line("{}", text_of(averages_ms));
    return {};
  }

 private:
  [[nodiscard]] std::string text_of(const RunningStats& times_ms) const {
    return fmt::format("Avg per-thread latency (waking {}/{} threads) in {:.4f} ms (+-{:.2f}%)",
                       share_, options_.threads, times_ms.mean(), times_ms.error_percent());
  }

  Result<RunningStats> wake_all_ms() {
    // Started first: if one cannot be, nobody sleeps yet.
    std::vector<uint64_t> elapsed_ns(wakers_);
    WorkerThreads wakers;
    for (unsigned i = 0; i < wakers_; ++i)
      TRY(wakers.start([&, i] { elapsed_ns[i] = wake_share_ns(); }));
    BlockedThreads threads(word_, options_);
    TRY(threads.start());
    wakers.release();
    wakers.join();
    threads.join();
    RunningStats times_ms;
    for (uint64_t ns : elapsed_ns) times_ms.add(static_cast<double>(ns) / 1e6);
    return times_ms;
  }

  uint64_t wake_share_ns() {
    uint64_t start_ns = monotonic_ns();
    for (long woken = 0; woken < share_;)
      woken += word_.wake(options_.flags(), share_ - static_cast<unsigned>(woken));
    return monotonic_ns() - start_ns;
  }

  FutexLoadOptions options_;
  FutexWord word_;
  unsigned wakers_ = 0;
  unsigned share_ = 1;
};

}  // namespace

std::unique_ptr<Benchmark> make_futex_wake_parallel() {
  return std::make_unique<WakeParallel>();
}

}  // namespace sonde
