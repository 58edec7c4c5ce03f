// futex requeue: how long it takes to move threads that sleep on one futex to another, some at a
// time, as condition variables do. With --pi the second is a lock with priority inheritance, and
// threads that get it are woken.
#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/futex/futex_options.h"
#include "benchmarks/futex/futex_word.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

class Requeue final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.boolean('B', "broadcast", broadcast_,
                  "move all threads at once, instead of -q at a time");
    flags.boolean('p', "pi", pi_,
                  "move them to a lock with priority inheritance (FUTEX_CMP_REQUEUE_PI)");
    flags.number('q', "nrequeue", at_once_, "n", "threads that are moved at once (1)");
    options_.declare(flags);
  }

  Result<> run(BenchmarkRun& run) override {
    if (at_once_ == 0)
      return fail(ErrorCode::kUsage, "--nrequeue 0: at least one thread must be moved at once");
    TRY(options_.prepare());
    if (broadcast_ || at_once_ > options_.threads) at_once_ = options_.threads;
    const void *from = &words_.from, *to = &words_.to;
    run.report.line(
        "Run summary [PID {}]: Requeuing {} threads (from [{}] {} to {}{}), {} at a time.\n",
        ::getpid(), options_.threads, options_.sharing(), from, pi_ ? "PI " : "", to, at_once_);
    RunningStats times_ms;
    for (unsigned i = 1; i <= run.repeat; ++i) {
      Moved moved = TRY(move_all());
      times_ms.add(moved.ms);
      if (!options_.silent) run.report.line("[Run {}]: {}", i, text_of(moved));
    }
    run.report.line("Requeued {} of {} threads in {:.4f} ms (+-{:.2f}%)", options_.threads,
                    options_.threads, times_ms.mean(), times_ms.error_percent());
    return {};
  }

 private:
  struct Moved {
    long woken = 0;
    long requeued = 0;
    double ms = 0;
  };
  struct Words {
    FutexWord from, to;
  };

  [[nodiscard]] std::string text_of(const Moved& moved) const {
    if (!pi_)
      return fmt::format("Requeued {} of {} threads in {:.4f} ms", moved.requeued, options_.threads,
                         moved.ms);
    return fmt::format("Awoke and Requeued ({}+{}) of {} threads in {:.4f} ms", moved.woken,
                       moved.requeued, options_.threads, moved.ms);
  }

  Result<Moved> move_all() {
    error_ = 0;
    WorkerThreads threads;
    std::vector<int> cpus = allowed_cpus();
    for (unsigned i = 0; i < options_.threads; ++i)
      TRY(threads.start([this] { pi_ ? sleep_for_lock() : sleep(); }, cpus[i % cpus.size()]));
    threads.release();
    threads.wait_until_asleep();
    Moved moved;
    uint64_t start_ns = monotonic_ns();
    while (moved.woken + moved.requeued < options_.threads && error_ == 0) move_some(moved);
    moved.ms = static_cast<double>(monotonic_ns() - start_ns) / 1e6;
    words_.from.wake(options_.flags(), INT32_MAX);
    if (!pi_) words_.to.wake(options_.flags(), INT32_MAX);
    threads.join();
    if (error_ != 0) return futex_failed(pi_ ? "requeue_pi" : "requeue", error_);
    return moved;
  }

  void move_some(Moved& moved) {
    int flags = options_.flags();
    long count = pi_ ? words_.from.requeue_pi(flags, words_.to, 0, at_once_)
                     : words_.from.requeue(flags, words_.to, 0, 0, at_once_);
    if (count < 0 && errno != EAGAIN && errno != EINTR) error_ = errno;
    if (count <= 0) return;
    // The kernel does not say how many of them got the lock; a call wakes at most one.
    moved.woken += pi_ ? 1 : 0;
    moved.requeued += pi_ ? count - 1 : count;
  }

  void sleep() {
    while (words_.from.wait(options_.flags(), 0) != 0 && errno == EINTR) {
    }
  }

  /// The one that returns has the lock, and gives it to the next.
  void sleep_for_lock() {
    int flags = options_.flags();
    while (words_.from.wait_requeue_pi(flags, 0, words_.to) != 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      error_ = errno;
      return;
    }
    if (words_.to.unlock_pi(flags) != 0) error_ = errno;
  }

  FutexLoadOptions options_;
  Words words_;
  std::atomic<int> error_ = 0;
  bool broadcast_ = false;
  bool pi_ = false;
  unsigned at_once_ = 1;
};

}  // namespace

std::unique_ptr<Benchmark> make_futex_requeue() {
  return std::make_unique<Requeue>();
}

}  // namespace sonde
