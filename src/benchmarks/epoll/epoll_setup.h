// What the benchmarks of epoll have in common: their options, queues and descriptors.
#pragma once

#include <optional>
#include <vector>

#include "base/file.h"
#include "benchmarks/benchmark.h"

namespace sonde {

struct EpollOptions {
  unsigned descriptors = 64;  // of each thread
  unsigned nested = 0;
  unsigned seconds = 8;
  unsigned threads = 0;  // 0: as many as CPUs
  bool no_affinity = false;
  bool verbose = false;
  bool randomize = false;

  /// `random_help`: what --randomize does.
  void declare(FlagTable& flags, const char* random_help);
  /// Fills in the number of threads, and raises the limit of descriptors if need be. Errors: the
  /// hard limit is too low.
  Result<> prepare(Reporter& report);
  /// The CPU of thread `index`, unless threads are not bound.
  [[nodiscard]] std::optional<int> cpu_of(unsigned index) const;

 private:
  Result<> raise_limit(Reporter& report) const;
  std::vector<int> cpus_;
};

/// An epoll instance, and those that hang below it, each in the one before.
class EpollQueue {
 public:
  static Result<EpollQueue> create(unsigned nested);
  [[nodiscard]] int fd() const { return chain_.front().get(); }
  Result<> add(int descriptor, uint32_t events);

 private:
  std::vector<Fd> chain_;
};

/// `count` eventfd(2) descriptors that do not block.
Result<std::vector<Fd>> make_eventfds(unsigned count);

/// "0x10 ... 0x20", or one address: where a thread keeps its descriptors, as in perf's lines.
std::string address_range(const std::vector<Fd>& descriptors);

}  // namespace sonde
