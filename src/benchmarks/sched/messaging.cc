// sched messaging: groups of senders and receivers, where each sender writes to each receiver of
// its group. How long the scheduler and sockets (or pipes) take for all of it.
#include <array>
#include <deque>

#include "base/clock.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/support/io.h"
#include "benchmarks/support/tasks.h"

namespace sonde {

namespace {

constexpr unsigned kPairsPerGroup = 20;
constexpr size_t kMessageBytes = 100;

class Messaging final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('g', "group", groups_, "n", "groups, each of 20 senders and 20 receivers (10)");
    flags.number('l', "nr_loops", loops_, "n",
                 "messages from each sender to each receiver of its group (100)");
    flags.boolean('p', "pipe", pipes_, "send through pipes, instead of sockets");
    flags.boolean('t', "thread", threads_, "threads, instead of processes");
  }

  Result<> run(BenchmarkRun& run) override {
    FdPair ready = TRY(make_pipe()), begin = TRY(make_pipe());
    BenchmarkTasks tasks(threads_);
    std::deque<FdPair> pairs;  // threads use them to the end, processes have their own copies
    for (unsigned i = 0; i < groups_; ++i) {
      TRY(start_group(tasks, pairs, ready.out.get(), begin.in.get()));
      if (!threads_) pairs.clear();
    }
    tasks.release();
    uint64_t count = uint64_t{groups_} * 2 * kPairsPerGroup;
    if (!wait_until_ready(ready.in.get(), count))
      return fail(ErrorCode::kFailed, "a process of the benchmark has ended: lower --group");
    char byte = 0;
    uint64_t start_ns = monotonic_ns();
    if (!write_fully(begin.out.get(), &byte, 1))
      return fail(ErrorCode::kIo, "a pipe of the benchmark cannot be written");
    TRY(tasks.wait());
    TimedOperations timed{.elapsed_ns = monotonic_ns() - start_ns};
    const char* kind = threads_ ? "threads" : "processes";
    timed.done = {fmt::format("{} sender and receiver {} per group", kPairsPerGroup, kind),
                  fmt::format("{} groups == {} {} run", groups_, count, kind)};
    run.report.report(timed);
    return {};
  }

 private:
  Result<> start_group(BenchmarkTasks& tasks, std::deque<FdPair>& pairs, int ready, int begin) {
    size_t first = pairs.size();
    std::vector<int> outs;
    for (unsigned i = 0; i < kPairsPerGroup; ++i) {
      pairs.push_back(TRY(pipes_ ? make_pipe() : make_socket_pair()));
      outs.push_back(pairs.back().out.get());
      int in = pairs[first + i].in.get();
      TRY(tasks.start([=, this] { return wait_to_begin(ready, begin) && receive(in); }));
    }
    for (unsigned i = 0; i < kPairsPerGroup; ++i)
      TRY(tasks.start([=, this] { return wait_to_begin(ready, begin) && send(outs); }));
    return {};
  }

  [[nodiscard]] bool send(const std::vector<int>& outs) const {
    std::array<char, kMessageBytes> message{};
    for (unsigned i = 0; i < loops_; ++i)
      for (int out : outs)
        if (!write_fully(out, message.data(), message.size())) return false;
    return true;
  }

  [[nodiscard]] bool receive(int in) const {
    std::array<char, kMessageBytes> message{};
    uint64_t count = uint64_t{kPairsPerGroup} * loops_;
    for (uint64_t i = 0; i < count; ++i)
      if (!read_fully(in, message.data(), message.size())) return false;
    return true;
  }

  unsigned groups_ = 10;
  unsigned loops_ = 100;
  bool pipes_ = false;
  bool threads_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_sched_messaging() {
  return std::make_unique<Messaging>();
}

}  // namespace sonde
