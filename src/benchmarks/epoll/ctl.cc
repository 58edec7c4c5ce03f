// epoll ctl: threads add their descriptors to one epoll instance, change and remove them.
#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <deque>
#include <random>

#include "benchmarks/epoll/epoll_setup.h"
#include "benchmarks/support/run_time.h"
#include "benchmarks/support/timed_wait.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

enum Operation : size_t { kAdd, kMod, kDel, kOperations };
constexpr std::array<int, kOperations> kCodes = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
constexpr std::array<std::string_view, kOperations> kNames = {"ADD", "MOD", "DEL"};

class EpollCtl final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    options_.declare(
        flags,
        "do random operations on random descriptors, instead of add, change and remove in turn");
  }

  Result<> run(BenchmarkRun& run) override {
    TimedWait wait = TRY(TimedWait::create());
    Reporter& report = run.report;
    TRY(options_.prepare(report));
    EpollQueue queue = TRY(EpollQueue::create(options_.nested));
    report.line(
        "Run summary [PID {}]: {} threads doing epoll_ctl ops {} file-descriptors for {} secs.\n",
        ::getpid(), options_.threads, options_.descriptors, options_.seconds);
    for (unsigned i = 0; i < options_.threads; ++i)
      workers_.emplace_back().descriptors = TRY(make_eventfds(options_.descriptors));
    WorkerThreads threads;
    for (unsigned i = 0; i < options_.threads; ++i)
      TRY(threads.start([&, i] { work(workers_[i], queue.fd(), i); }, options_.cpu_of(i)));
    threads.release();
    wait.wait(options_.seconds);
    if (options_.verbose) report.line("main thread: toggling done");
    done_ = true;
    threads.join();
    show(report);
    return {};
  }

 private:
  struct alignas(64) Worker {
    std::vector<Fd> descriptors;
    std::array<uint64_t, kOperations> done{};
  };

  void work(Worker& worker, int queue, unsigned seed) const {
    std::minstd_rand random(seed + 1);
    do {
      if (options_.randomize)
        operate(worker, queue, worker.descriptors[random() % worker.descriptors.size()].get(),
                static_cast<Operation>(random() % kOperations));
      else
        for (const Fd& fd : worker.descriptors)
          for (Operation operation : {kAdd, kMod, kDel})
            operate(worker, queue, fd.get(), operation);
    } while (!done_);
  }

  /// Counts what succeeded: a random operation may change what has not been added.
  static void operate(Worker& worker, int queue, int fd, Operation operation) {
    epoll_event event{.events = operation == kAdd ? EPOLLIN : EPOLLOUT, .data = {.fd = fd}};
    if (::epoll_ctl(queue, kCodes[operation], fd, &event) == 0) ++worker.done[operation];
  }

  void show(Reporter& report) const {
    std::array<RunningStats, kOperations> stats;
    for (size_t i = 0; i < workers_.size(); ++i) {
      const auto& done = workers_[i].done;
      for (size_t k = 0; k < kOperations; ++k) stats[k].add(static_cast<double>(done[k]));
      report.line("[thread {:2}] fdmap: {} [ add: {:04} ops; mod: {:04} ops; del: {:04} ops ]", i,
                  address_range(workers_[i].descriptors), done[kAdd], done[kMod], done[kDel]);
    }
    for (size_t k = 0; k < kOperations; ++k)
      report.line("{}Averaged {:.0f} {} operations (+- {:.2f}%)", k == 0 ? "\n" : "",
                  stats[k].mean(), kNames[k], stats[k].error_percent());
  }

  EpollOptions options_;
  std::deque<Worker> workers_;
  std::atomic<bool> done_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_epoll_ctl() {
  return std::make_unique<EpollCtl>();
}

}  // namespace sonde
