// epoll wait: threads wait for descriptors, together or each with an epoll instance of its own,
// while another thread keeps writing to all of them.
#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>

#include "benchmarks/epoll/epoll_setup.h"
#include "benchmarks/support/run_time.h"
#include "benchmarks/support/timed_wait.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

namespace {

class EpollWait final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.boolean('B', "nonblocking", nonblocking_,
                  "ask again and again with a timeout of 0, instead of sleeping");
    flags.boolean(
        'E', "edge", edge_,
        "report descriptors when they become readable, not as long as they are (EPOLLET)");
    flags.boolean('m', "multiq", own_queues_,
                  "an epoll instance per thread, instead of one for all");
    flags.boolean('S', "oneshot", oneshot_,
                  "report a descriptor once, until it is armed again (EPOLLONESHOT)");
    options_.declare(flags,
                     "write to the descriptors in random order, instead of one after the other");
  }

  Result<> run(BenchmarkRun& run) override {
    TimedWait wait = TRY(TimedWait::create());
    Reporter& report = run.report;
    if (options_.verbose) report.line("Using {} queue model", own_queues_ ? "multi" : "single");
    TRY(options_.prepare(report));
    report.line(
        "Run summary [PID {}]: {} threads monitoring{} on {} file-descriptors for {} secs.\n",
        ::getpid(), options_.threads, oneshot_ ? " (EPOLLONESHOT semantics)" : "",
        options_.descriptors, options_.seconds);
    TRY(make_workers());
    WorkerThreads consumers, writer;
    for (unsigned i = 0; i < options_.threads; ++i)
      TRY(consumers.start([&, i] { consume(workers_[i]); }, options_.cpu_of(i)));
    uint64_t full_loops = 0;
    TRY(writer.start([&] { full_loops = keep_writing(); }));
    announce(report);
    consumers.release();
    RunTime time;
    writer.release();
    wait.wait(options_.seconds);
    if (options_.verbose) report.line("main thread: toggling done");
    done_ = true;
    time.stop();
    // Consumers that still wait are woken by the writer.
    consumers.join();
    writes_done_ = true;
    writer.join();
    if (options_.verbose) report.line("exiting writer-thread (total full-loops: {})", full_loops);
    show(report, time);
    return {};
  }

 private:
  struct alignas(64) Worker {
    int queue = -1;
    std::vector<Fd> descriptors;
    uint64_t waits = 0;
  };

  [[nodiscard]] uint32_t events() const {
    return EPOLLIN | (oneshot_ ? EPOLLONESHOT : 0u) | (edge_ ? EPOLLET : 0u);
  }

  Result<> make_workers() {
    for (unsigned i = 0; i < options_.threads; ++i) {
      if (i == 0 || own_queues_) queues_.push_back(TRY(EpollQueue::create(options_.nested)));
      Worker& worker = workers_.emplace_back();
      worker.queue = queues_.back().fd();
      worker.descriptors = TRY(make_eventfds(options_.descriptors));
      for (const Fd& fd : worker.descriptors) TRY(queues_.back().add(fd.get(), events()));
    }
    return {};
  }

  void announce(Reporter& report) const {
    if (!options_.verbose) return;
    report.line("starting worker/consumer {}threads{}", options_.no_affinity ? "" : "CPU affinity ",
                nonblocking_ ? " (nonblocking)" : "");
    report.line("starting writer-thread: doing {} writes ...",
                options_.randomize ? "random" : "lineal");
  }

  void consume(Worker& worker) const {
    do {
      epoll_event event{};
      if (::epoll_wait(worker.queue, &event, 1, nonblocking_ ? 0 : -1) <= 0) continue;
      uint64_t value = 0;
      // Another thread may have been faster: then there is nothing to read.
      [[maybe_unused]] ssize_t got = ::read(event.data.fd, &value, sizeof value);
      if (oneshot_) {
        event.events = events();
        ::epoll_ctl(worker.queue, EPOLL_CTL_MOD, event.data.fd, &event);
      }
      ++worker.waits;
    } while (!done_);
  }

  uint64_t keep_writing() const {
    std::vector<int> descriptors;
    for (const Worker& worker : workers_)
      for (const Fd& fd : worker.descriptors) descriptors.push_back(fd.get());
    std::minstd_rand random;
    uint64_t loops = 0, one = 1;
    for (; !writes_done_; ++loops) {
      if (options_.randomize) std::ranges::shuffle(descriptors, random);
      for (int fd : descriptors) [[maybe_unused]]
        ssize_t put = ::write(fd, &one, sizeof one);
    }
    return loops;
  }

  void show(Reporter& report, const RunTime& time) const {
    RunningStats stats;
    for (size_t i = 0; i < workers_.size(); ++i) {
      uint64_t rate = time.per_second(workers_[i].waits);
      stats.add(static_cast<double>(rate));
      report.line("[thread {:2}] fdmap: {} [ {:04} ops/sec ]", i,
                  address_range(workers_[i].descriptors), rate);
    }
    time.show_average(report, stats, true);
  }

  EpollOptions options_;
  bool nonblocking_ = false;
  bool edge_ = false;
  bool own_queues_ = false;
  bool oneshot_ = false;
  std::deque<EpollQueue> queues_;
  std::deque<Worker> workers_;
  std::atomic<bool> done_ = false;
  std::atomic<bool> writes_done_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_epoll_wait() {
  return std::make_unique<EpollWait>();
}

}  // namespace sonde
