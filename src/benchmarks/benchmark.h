// Benchmarks: small loads whose speed is compared between kernels and machines, with perf bench's
// command lines and texts.
//
// Each is a file in the folder of its collection and a line in benchmarks.def. It declares its
// options, does its work and hands what it measured to the Reporter, which knows the formats. What
// it starts (threads, processes) or opens ends with it, on every path.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "benchmarks/reporter.h"
#include "cli/flags.h"

namespace sonde {

/// What one run of a benchmark works with.
struct BenchmarkRun {
  Env& env;
  Reporter& report;
  unsigned repeat;  // how often benchmarks that average over runs repeat them
};

class Benchmark {
 public:
  virtual ~Benchmark() = default;
  virtual void declare(FlagTable& flags) = 0;
  /// Measures and reports. Called once, after the flags are parsed.
  virtual Result<> run(BenchmarkRun& run) = 0;
};

struct BenchmarkInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Benchmark> (*make)();
};

struct BenchmarkCollection {
  std::string_view name;
  std::string_view summary;
  std::string_view all_summary;  // what `all` of it says in the list; empty: no line, as in perf
  std::vector<BenchmarkInfo> benchmarks;
};

/// All of them, in the order of perf's lists.
[[nodiscard]] std::span<const BenchmarkCollection> benchmark_collections();

/// nullptr if there is none of this name.
[[nodiscard]] const BenchmarkCollection* find_collection(std::string_view name);
[[nodiscard]] const BenchmarkInfo* find_benchmark(const BenchmarkCollection& collection,
                                                  std::string_view name);

/// The lists of `bench` and `bench COLLECTION`.
void print_collections(Sink& out, std::string_view tool);
void print_benchmarks(Sink& out, const BenchmarkCollection& collection);

/// Runs every benchmark of a collection with its defaults; for null, of all. One that fails is
/// reported on standard error and the next is run; the result is the exit status.
int run_all_benchmarks(BenchmarkRun& run, const BenchmarkCollection* only);

}  // namespace sonde
