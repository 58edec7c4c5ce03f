#include <algorithm>

#include "benchmarks/benchmark.h"

namespace sonde {

#define COLLECTION(name, summary, all_summary)
#define BENCHMARK(collection, name, word, summary) \
  std::unique_ptr<Benchmark> make_##collection##_##name();
#include "benchmarks/benchmarks.def"
#undef COLLECTION
#undef BENCHMARK

std::span<const BenchmarkCollection> benchmark_collections() {
  static const std::vector<BenchmarkCollection> collections = [] {
    std::vector<BenchmarkCollection> list;
#define COLLECTION(name, summary, all_summary) list.push_back({#name, summary, all_summary, {}});
#define BENCHMARK(collection, name, word, summary) \
  list.back().benchmarks.push_back({word, summary, make_##collection##_##name});
#include "benchmarks/benchmarks.def"
#undef COLLECTION
#undef BENCHMARK
    return list;
  }();
  return collections;
}

const BenchmarkCollection* find_collection(std::string_view name) {
  auto all = benchmark_collections();
  auto found = std::ranges::find(all, name, &BenchmarkCollection::name);
  return found == all.end() ? nullptr : &*found;
}

const BenchmarkInfo* find_benchmark(const BenchmarkCollection& collection, std::string_view name) {
  auto found = std::ranges::find(collection.benchmarks, name, &BenchmarkInfo::name);
  return found == collection.benchmarks.end() ? nullptr : &*found;
}

namespace {

void print_entry(Sink& out, std::string_view name, std::string_view summary) {
  out.print("{:>14}: {}\n", name, summary);
}

/// Declares the benchmark's options and leaves them at their defaults.
Result<> run_with_defaults(const BenchmarkInfo& info, BenchmarkRun& run) {
  std::unique_ptr<Benchmark> benchmark = info.make();
  FlagTable flags;
  benchmark->declare(flags);
  return benchmark->run(run);
}

}  // namespace

void print_collections(Sink& out, std::string_view tool) {
  out.print("Usage: \n\t{} bench [<common options>] <collection> <benchmark> [<options>]\n\n",
            tool);
  out.write("        # Collections of benchmarks:\n\n");
  for (const BenchmarkCollection& collection : benchmark_collections())
    print_entry(out, collection.name, collection.summary);
  print_entry(out, "all", "every benchmark of every collection");
  out.put('\n');
}

void print_benchmarks(Sink& out, const BenchmarkCollection& collection) {
  out.print("\n        # Benchmarks of the collection {}:\n\n", collection.name);
  for (const BenchmarkInfo& info : collection.benchmarks) print_entry(out, info.name, info.summary);
  if (!collection.all_summary.empty()) print_entry(out, "all", collection.all_summary);
  out.put('\n');
}

int run_all_benchmarks(BenchmarkRun& run, const BenchmarkCollection* only) {
  int status = 0;
  for (const BenchmarkCollection& collection : benchmark_collections()) {
    if (only && only != &collection) continue;
    for (const BenchmarkInfo& info : collection.benchmarks) {
      run.report.line("# Running {}/{} benchmark...", collection.name, info.name);
      Result<> done = run_with_defaults(info, run);
      run.report.line("");
      if (done) continue;
      run.env.err.print("{}/{}: {}\n", collection.name, info.name, done.error().message);
      run.env.err.flush();
      status = exit_status(done.error().code);
    }
  }
  return status;
}

}  // namespace sonde
