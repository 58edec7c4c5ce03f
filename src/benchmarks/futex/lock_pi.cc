// futex lock-pi: threads take and release locks with priority inheritance, one that they share or
// one each. The lock is taken by the kernel even where it is free: what is measured is that call.
#include <ctime>
#include <deque>

#include "benchmarks/benchmark.h"
#include "benchmarks/futex/futex_options.h"
#include "benchmarks/futex/futex_word.h"
#include "benchmarks/support/run_time.h"
#include "benchmarks/support/timed_wait.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

class LockPi final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.boolean('M', "multi", multi_, "a lock per thread, instead of one for all");
    flags.number('r', "runtime", seconds_, "n", "seconds to run (10)");
    options_.declare(flags);
  }

  Result<> run(BenchmarkRun& run) override {
    TRY(options_.prepare());
    TimedWait wait = TRY(TimedWait::create());
    run.report.line("Run summary [PID {}]: {} threads doing pi lock/unlock pairing for {} secs.\n",
                    ::getpid(), options_.threads, seconds_);
    std::atomic<bool> done = false;
    std::deque<Worker> workers(options_.threads);
    std::vector<int> cpus = allowed_cpus();
    WorkerThreads threads;
    for (unsigned i = 0; i < options_.threads; ++i)
      TRY(threads.start([&, i] { work(workers[i], lock_of(workers, i), done); },
                        cpus[i % cpus.size()]));
    threads.release();
    RunTime time;
    wait.wait(seconds_);
    done = true;
    time.stop();
    threads.join();
    return show(run.report, workers, time);
  }

 private:
  struct alignas(64) Worker {
    FutexWord own;
    uint64_t calls = 0;
    int error = 0;
  };

  FutexWord& lock_of(std::deque<Worker>& workers, unsigned index) {
    return multi_ ? workers[index].own : shared_;
  }

  void work(Worker& worker, FutexWord& lock, const std::atomic<bool>& done) const {
    timespec hold{.tv_sec = 0, .tv_nsec = 1000};
    int flags = options_.flags();
    do {
      while (lock.lock_pi(flags) != 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        worker.error = errno;
        return;
      }
      ::nanosleep(&hold, nullptr);
      if (lock.unlock_pi(flags) != 0) worker.error = errno;
      ++worker.calls;
    } while (!done);
  }

  Result<> show(Reporter& report, std::deque<Worker>& workers, const RunTime& time) {
    RunningStats stats;
    for (unsigned i = 0; i < workers.size(); ++i) {
      if (workers[i].error) return futex_failed("lock_pi", workers[i].error);
      uint64_t rate = time.per_second(workers[i].calls);
      stats.add(static_cast<double>(rate));
      const void* lock = &lock_of(workers, i);
      if (!options_.silent) report.line("[thread {:3}] futex: {} [ {} ops/sec ]", i, lock, rate);
    }
    time.show_average(report, stats, !options_.silent);
    return {};
  }

  FutexLoadOptions options_;
  FutexWord shared_;
  bool multi_ = false;
  unsigned seconds_ = 10;
};

}  // namespace

std::unique_ptr<Benchmark> make_futex_lock_pi() {
  return std::make_unique<LockPi>();
}

}  // namespace sonde
