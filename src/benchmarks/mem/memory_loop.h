// MemoryLoop: what the benchmarks of memory have in common: functions to choose from, a size, and
// the number of times each is called.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/benchmark.h"
#include "benchmarks/mem/memory_area.h"

namespace sonde {

struct MemoryFunction {
  std::string_view name;
  std::string_view summary;
};

class MemoryLoop : public Benchmark {
 public:
  void declare(FlagTable& flags) override;
  Result<> run(BenchmarkRun& run) final;

 protected:
  struct Options {
    size_t size = size_t{1} << 20;
    size_t page = 4096;
    size_t chunk = 0;  // 0: all at once
    unsigned loops = 1;
  };

  explicit MemoryLoop(std::vector<MemoryFunction> functions) : functions_(std::move(functions)) {}
  /// Prepares function number `index`; what it returns is timed, and does everything `loops` times.
  virtual Result<std::function<Result<>()>> prepare(size_t index) = 0;
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  void list(Reporter& report) const;
  [[nodiscard]] std::string names() const;
  Result<> measure(BenchmarkRun& run, size_t index);

  std::vector<MemoryFunction> functions_;
  Options options_;
  std::string size_text_ = "1MB";
  std::string wanted_ = "all";
  bool cycles_ = false;
};

/// Calls `work(offset, bytes)` for each chunk of the options' size.
template <typename Work>
void for_each_chunk(size_t size, size_t chunk, Work&& work) {
  if (chunk == 0 || chunk > size) chunk = size;
  for (size_t offset = 0; offset < size; offset += chunk)
    work(offset, size - offset < chunk ? size - offset : chunk);
}

}  // namespace sonde
