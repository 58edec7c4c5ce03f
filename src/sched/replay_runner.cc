#include "sched/replay_runner.h"

#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/clock.h"

namespace sonde {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kTest = 1'000'000;

void burn(uint64_t ns, uint64_t overhead_ns) {
  uint64_t begin = monotonic_ns();
  while (monotonic_ns() - begin + overhead_ns < ns) {
  }
}

void sleep_for(uint64_t ns) {
  timespec left{.tv_sec = static_cast<time_t>(ns / kSecond),
                .tv_nsec = static_cast<long>(ns % kSecond)};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

uint64_t thread_cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * kSecond + static_cast<uint64_t>(used.tv_nsec);
}

template <typename Work>
uint64_t time_of(const Work& work) {
  uint64_t begin = monotonic_ns();
  work();
  return monotonic_ns() - begin;
}
template <typename Work>
uint64_t best_time_of(const Work& work) {
  constexpr int kTries = 10;
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) best = std::min(best, time_of(work));
  return best;
}

/// Posted once and awaited once in each round.
class Signal {
 public:
  Signal() { ::sem_init(&semaphore_, 0, 0); }
  ~Signal() { ::sem_destroy(&semaphore_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void post() { ::sem_post(&semaphore_); }
  void wait() {
    while (::sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t semaphore_{};
};

}  // namespace

ReplayOverheads measure_replay_overheads() {
  constexpr uint64_t kShortSleep = 10'000;
  ReplayOverheads overheads;
  overheads.run_ns = best_time_of([] { burn(0, 0); });
  overheads.sleep_ns = best_time_of([] { sleep_for(kShortSleep); });
  overheads.sleep_ns -= std::min(overheads.sleep_ns, kShortSleep);
  overheads.run_test_ns = time_of([&] { burn(kTest, overheads.run_ns); });
  overheads.sleep_test_ns = time_of([] { sleep_for(kTest); });
  return overheads;
}

/// The threads, and how they begin and end a round together.
class ReplayRunner::Crew {
 public:
  Crew(const ReplayPlan& plan, const ReplayOverheads& overheads)
      : plan_(plan),
        overhead_ns_(overheads.run_ns),
        signals_(std::make_unique<Signal[]>(plan.signals())) {
    workers_.reserve(plan.tasks().size());
  }
  ~Crew() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    begin_.notify_all();
    for (Worker& worker : workers_) ::pthread_join(worker.thread, nullptr);
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  Result<> start() {
    // Steps need hardly any stack, and recordings have thousands of tasks.
    constexpr size_t kStack = 256 * 1024;
    pthread_attr_t attr;
    ::pthread_attr_init(&attr);
    ::pthread_attr_setstacksize(&attr, kStack);
    int refused = 0;
    for (const ReplayTask& task : plan_.tasks()) {
      workers_.push_back({.crew = this, .task = &task});
      refused = ::pthread_create(&workers_.back().thread, &attr, run_worker, &workers_.back());
      if (refused != 0) break;
    }
    ::pthread_attr_destroy(&attr);
    if (refused == 0) return {};
    workers_.pop_back();
    return fail(ErrorCode::kFailed,
                "replay needs {} threads, but the system refuses thread {}: {}; raise ulimit -u or "
                "kernel.threads-max",
                plan_.tasks().size(), workers_.size() + 1, ::strerror(refused));
  }

  ReplayRound run() {
    uint64_t begin = monotonic_ns();
    std::unique_lock lock(mutex_);
    at_work_ = workers_.size();
    cpu_ns_ = 0;
    ++round_;
    begin_.notify_all();
    end_.wait(lock, [this] { return at_work_ == 0; });
    return {.wall_ns = monotonic_ns() - begin, .cpu_ns = cpu_ns_};
  }

 private:
  struct Worker {
    Crew* crew = nullptr;
    const ReplayTask* task = nullptr;
    pthread_t thread{};
  };

  static void* run_worker(void* argument) {
    auto* worker = static_cast<Worker*>(argument);
    worker->crew->work(*worker->task);
    return nullptr;
  }

  void work(const ReplayTask& task) {
    constexpr size_t kMaxNameLength = 15;
    ::pthread_setname_np(::pthread_self(), task.name.substr(0, kMaxNameLength).c_str());
    for (uint64_t done = 0; wait_for_round(done); ++done) {
      uint64_t before = thread_cpu_ns();
      for (const ReplayStep& step : task.steps) make(step, task.tid == 0);
      uint64_t used = thread_cpu_ns() - before;
      std::lock_guard lock(mutex_);
      cpu_ns_ += used;
      if (--at_work_ == 0) end_.notify_one();
    }
  }

  bool wait_for_round(uint64_t done) {
    std::unique_lock lock(mutex_);
    begin_.wait(lock, [&] { return stopped_ || round_ > done; });
    return !stopped_;
  }

  void make(const ReplayStep& step, bool is_idle) {
    using enum ReplayStep::Kind;
    if (step.kind == kRun && is_idle) return sleep_for(step.run_ns);
    if (step.kind == kRun) return burn(step.run_ns, overhead_ns_);
    if (step.signal == ReplayStep::kNoSignal) return;
    if (step.kind == kSleep)
      signals_[step.signal].wait();
    else
      signals_[step.signal].post();
  }

  const ReplayPlan& plan_;
  uint64_t overhead_ns_;
  std::unique_ptr<Signal[]> signals_;
  std::vector<Worker> workers_;  // never moves: threads hold addresses into it
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  uint64_t round_ = 0, at_work_ = 0, cpu_ns_ = 0;
  bool stopped_ = false;
};

Result<ReplayRunner> ReplayRunner::start(const ReplayPlan& plan, const ReplayOverheads& overheads) {
  auto crew = std::make_unique<Crew>(plan, overheads);
  TRY(crew->start());
  return ReplayRunner(std::move(crew));
}

ReplayRunner::ReplayRunner(std::unique_ptr<Crew> crew) : crew_(std::move(crew)) {}
ReplayRunner::ReplayRunner(ReplayRunner&&) noexcept = default;
ReplayRunner& ReplayRunner::operator=(ReplayRunner&&) noexcept = default;
ReplayRunner::~ReplayRunner() = default;

ReplayRound ReplayRunner::run() {
  return crew_->run();
}

}  // namespace sonde
