// CallLoop: a system call, made again and again by one thread.
#pragma once

#include <functional>
#include <string_view>

#include "benchmarks/benchmark.h"

namespace sonde {

class CallLoop final : public Benchmark {
 public:
  /// `call`: makes one and returns whether it worked. `name`: "getppid()".
  CallLoop(std::string_view name, unsigned loops, std::function<bool()> call)
      : name_(name), loops_(loops), call_(std::move(call)) {}
  void declare(FlagTable& flags) override;
  Result<> run(BenchmarkRun& run) override;

 private:
  std::string_view name_;
  unsigned loops_;
  std::function<bool()> call_;
};

/// Runs `work` in a child process made by fork(2), which ends with its result, and waits for it.
bool fork_and_wait(const std::function<int()>& work);

}  // namespace sonde
