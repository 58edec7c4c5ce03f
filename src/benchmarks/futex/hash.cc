// futex hash: threads wait on many futexes whose value is not the expected one, so that each call
// only finds its place in the kernel's hash table, and returns.
#include <deque>

#include "benchmarks/benchmark.h"
#include "benchmarks/futex/futex_options.h"
#include "benchmarks/futex/futex_word.h"
#include "benchmarks/support/run_time.h"
#include "benchmarks/support/timed_wait.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

constexpr uint32_t kNeverTheValue = 1234;
constexpr unsigned kMaxFutexes = 1 << 24;  // 64 MB

class Hash final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('f', "futexes", futexes_, "n", "futexes of each thread (1024)");
    flags.number('r', "runtime", seconds_, "n", "seconds to run (10)");
    options_.declare(flags);
  }

  Result<> run(BenchmarkRun& run) override {
    if (futexes_ == 0 || futexes_ > kMaxFutexes)
      return fail(ErrorCode::kUsage, "--futexes {}: each thread can have 1 to {}", futexes_,
                  kMaxFutexes);
    TRY(options_.prepare());
    TimedWait wait = TRY(TimedWait::create());
    run.report.line(
        "Run summary [PID {}]: {} threads, each operating on {} [{}] futexes for {} secs.\n",
        ::getpid(), options_.threads, futexes_, options_.sharing(), seconds_);
    std::atomic<bool> done = false;
    std::deque<Worker> workers(options_.threads);
    std::vector<int> cpus = allowed_cpus();
    WorkerThreads threads;
    for (unsigned i = 0; i < options_.threads; ++i)
      TRY(threads.start([&, i] { work(workers[i], done); }, cpus[i % cpus.size()]));
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
    std::vector<FutexWord> words;
    uint64_t calls = 0;
    int error = 0;
  };

  void work(Worker& worker, const std::atomic<bool>& done) const {
    worker.words = std::vector<FutexWord>(futexes_);
    int flags = options_.flags();
    do {
      for (FutexWord& word : worker.words)
        if (word.wait(flags, kNeverTheValue) >= 0 || (errno != EAGAIN && errno != EINTR))
          worker.error = errno;
      worker.calls += futexes_;
    } while (!done);
  }

  [[nodiscard]] Result<> show(Reporter& report, const std::deque<Worker>& workers,
                              const RunTime& time) const {
    RunningStats stats;
    for (size_t i = 0; i < workers.size(); ++i) {
      const Worker& worker = workers[i];
      if (worker.error) return futex_failed("wait", worker.error);
      uint64_t rate = time.per_second(worker.calls);
      stats.add(static_cast<double>(rate));
      if (options_.silent) continue;
      const void *first = &worker.words.front(), *last = &worker.words.back();
      if (futexes_ == 1)
        report.line("[thread {:2}] futex: {} [ {} ops/sec ]", i, first, rate);
      else
        report.line("[thread {:2}] futexes: {} ... {} [ {} ops/sec ]", i, first, last, rate);
    }
    time.show_average(report, stats, !options_.silent);
    return {};
  }

  FutexLoadOptions options_;
  unsigned futexes_ = 1024;
  unsigned seconds_ = 10;
};

}  // namespace

std::unique_ptr<Benchmark> make_futex_hash() {
  return std::make_unique<Hash>();
}

}  // namespace sonde
