// sched pipe: two tasks hand a word to each other through two pipes; each waits for the other. With
// --cgroups the two are in two control groups, so that each switch of tasks is one of groups, too.
#include <fcntl.h>
#include <sys/epoll.h>

#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/support/cgroup_member.h"
#include "benchmarks/support/io.h"
#include "benchmarks/support/tasks.h"

namespace sonde {

namespace {

/// One task's ends of the pipes.
class PipeEnds {
 public:
  PipeEnds(int in, int out, int epoll) : in_(in), out_(out), epoll_(epoll) {}

  [[nodiscard]] bool send() const {
    int word = 0;
    return write_fully(out_, &word, sizeof word);
  }
  /// `epoll`, if there is one, tells when a descriptor that does not block has something.
  [[nodiscard]] bool receive() const {
    int word = 0;
    if (epoll_ < 0) return read_fully(in_, &word, sizeof word);
    while (::read(in_, &word, sizeof word) != sizeof word) {
      if (errno != EAGAIN && errno != EINTR) return false;
      epoll_event event{};
      ::epoll_wait(epoll_, &event, 1, -1);
    }
    return true;
  }

 private:
  int in_, out_, epoll_;
};

Result<Fd> watch(int in) {
  Fd epoll(::epoll_create1(0));
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (!epoll.valid() || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, in, &event) != 0)
    return fail(ErrorCode::kFailed, "cannot watch a pipe with epoll: {}", std::strerror(errno));
  return epoll;
}

class Pipe final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.call('G', "cgroups", "SEND,RECV", "cgroups of the task that sends first and of the other",
               [this](std::string_view names) { return set_cgroups(names); });
    flags.number('l', "loop", loops_, "n", "how often the word goes there and back (1000000)");
    flags.boolean('n', "nonblocking", nonblocking_,
                  "wait with epoll, and read and write without blocking");
    flags.boolean('T', "threaded", threads_, "two threads, instead of two processes");
  }

  Result<> run(BenchmarkRun& run) override {
    std::vector<Fd> cgroups;
    for (const std::string& name : cgroups_)
      cgroups.push_back(TRY(open_cgroup_members(name, threads_)));
    auto enter = [&](size_t which) {
      return cgroups.empty() || enter_cgroup(cgroups[which].get());
    };
    int flags = nonblocking_ ? O_NONBLOCK : 0;
    FdPair there = TRY(make_pipe(flags)), back = TRY(make_pipe(flags));
    Fd sender_epoll, receiver_epoll;
    if (nonblocking_) sender_epoll = TRY(watch(back.in.get()));
    if (nonblocking_) receiver_epoll = TRY(watch(there.in.get()));
    PipeEnds sender(back.in.get(), there.out.get(), sender_epoll.get());
    PipeEnds receiver(there.in.get(), back.out.get(), receiver_epoll.get());
    BenchmarkTasks tasks(threads_);
    // A task that fails closes its side, so that the other does not wait for it.
    TRY(tasks.start([&] {
      bool done = enter(0) && send_first(sender);
      if (!done) there.out.reset();
      return done;
    }));
    TRY(tasks.start([&] {
      bool done = enter(1) && receive_first(receiver);
      if (!done) back.out.reset();
      return done;
    }));
    uint64_t start_ns = monotonic_ns();
    TRY(finish(tasks));
    TimedOperations timed{.elapsed_ns = monotonic_ns() - start_ns};
    timed.done = {fmt::format("Executed {} pipe operations between two {}", loops_,
                              threads_ ? "threads" : "processes")};
    timed.operations = loops_;
    run.report.report(timed);
    return {};
  }

 private:
  Result<> set_cgroups(std::string_view names) {
    auto parts = split(names, ',');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty())
      return fail(ErrorCode::kUsage, "--cgroups {}: expected two cgroups, SEND,RECV", names);
    cgroups_.assign(parts.begin(), parts.end());
    return {};
  }

  Result<> finish(BenchmarkTasks& tasks) const {
    Result<> done = tasks.wait();
    if (done || cgroups_.empty()) return done;
    return fail(ErrorCode::kFailed, "cgroups {}: they do not accept the benchmark's {}",
                join(cgroups_, ","),
                threads_ ? "threads: their cgroup.type must be threaded" : "processes");
  }

  [[nodiscard]] bool send_first(const PipeEnds& ends) const {
    for (unsigned i = 0; i < loops_; ++i)
      if (!ends.send() || !ends.receive()) return false;
    return true;
  }

  [[nodiscard]] bool receive_first(const PipeEnds& ends) const {
    for (unsigned i = 0; i < loops_; ++i)
      if (!ends.receive() || !ends.send()) return false;
    return true;
  }

  unsigned loops_ = 1'000'000;
  bool threads_ = false;
  bool nonblocking_ = false;
  std::vector<std::string> cgroups_;
};

}  // namespace

std::unique_ptr<Benchmark> make_sched_pipe() {
  return std::make_unique<Pipe>();
}

}  // namespace sonde
