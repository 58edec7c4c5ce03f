// breakpoint thread: starting and ending threads that inherit breakpoints, so that the kernel has
// to install and remove them. Several threads may do it at the same time.
#include <pthread.h>

#include <atomic>
#include <deque>

#include "base/clock.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/breakpoint/watchpoint.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

class BreakpointThread final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('b', "breakpoints", breakpoints_, "n",
                 "breakpoints that each thread inherits (1)");
    flags.number('p', "parallelism", parallelism_, "n",
                 "threads that start others at the same time (1)");
    flags.number('t', "threads", threads_, "n",
                 "threads that each of them starts and joins at a time (1)");
  }

  Result<> run(BenchmarkRun& run) override {
    if (parallelism_ == 0 || threads_ == 0)
      return fail(ErrorCode::kUsage, "--parallelism and --threads must be at least 1");
    std::deque<int> watched;  // one by one: the machine runs out of breakpoints soon
    std::vector<Fd> breakpoints;
    for (unsigned i = 0; i < breakpoints_; ++i)
      breakpoints.push_back(TRY(watch_variable(run.env.sys, &watched.emplace_back())));
    WorkerThreads starters;
    for (unsigned i = 0; i < parallelism_; ++i)
      TRY(starters.start([&] { start_and_join(run.repeat); }));
    uint64_t start_ns = monotonic_ns();
    starters.release();
    starters.join();
    TimedOperations timed{.gap = false, .elapsed_ns = monotonic_ns() - start_ns};
    if (failed_) return fail(ErrorCode::kFailed, "cannot start a thread: lower --threads");
    timed.done = {fmt::format("Created/joined {} threads with {} breakpoints and {} parallelism",
                              run.repeat, breakpoints_, parallelism_)};
    timed.operations = double{1} * run.repeat * threads_;
    timed.operations_per_cpu = *timed.operations / parallelism_;
    timed.per_second = false;
    run.report.report(timed);
    return {};
  }

 private:
  void start_and_join(unsigned repeat) {
    for (unsigned i = 0; i < repeat && !failed_; ++i) {
      std::vector<pthread_t> started;
      for (unsigned k = 0; k < threads_; ++k) {
        pthread_t thread{};
        if (::pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr))
          failed_ = true;
        else
          started.push_back(thread);
      }
      for (pthread_t thread : started) ::pthread_join(thread, nullptr);
    }
  }

  unsigned breakpoints_ = 1;
  unsigned parallelism_ = 1;
  unsigned threads_ = 1;
  std::atomic<bool> failed_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_breakpoint_thread() {
  return std::make_unique<BreakpointThread>();
}

}  // namespace sonde
