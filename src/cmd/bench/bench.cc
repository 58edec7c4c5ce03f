// bench: perf's benchmarks, for comparing kernels and machines.
#include "benchmarks/benchmark.h"
#include "cli/argument_count.h"
#include "cli/command.h"

namespace sonde {

namespace {

struct BenchOptions {
  BenchmarkFormat format = BenchmarkFormat::kDefault;
  unsigned repeat = 10;
};

int unknown(Env& env, const std::string& message) {
  env.err.print("{}\n", message);
  return 1;
}

int run_all(Env& env, const BenchOptions& options, const BenchmarkCollection* only) {
  Reporter report(env.out, options.format);
  BenchmarkRun run{env, report, options.repeat};
  return run_all_benchmarks(run, only);
}

/// `bench sched pipe`
class BenchBenchmark final : public Command {
 public:
  BenchBenchmark(const BenchmarkCollection& collection, const BenchmarkInfo& info,
                 const BenchOptions& options)
      : collection_(collection), info_(info), options_(options), benchmark_(info.make()) {}

  void declare(FlagTable& flags) override {
    flags.usage("<options>").description(info_.summary);
    benchmark_->declare(flags);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    Reporter report(env.out, options_.format);
    report.note("# Running '{}/{}' benchmark:", collection_.name, info_.name);
    BenchmarkRun run{env, report, options_.repeat};
    TRY(benchmark_->run(run));
    return 0;
  }

 private:
  const BenchmarkCollection& collection_;
  const BenchmarkInfo& info_;
  const BenchOptions& options_;
  std::unique_ptr<Benchmark> benchmark_;
};

/// `bench sched`
class BenchCollection final : public Command {
 public:
  BenchCollection(const BenchmarkCollection& collection, const BenchOptions& options)
      : collection_(collection), options_(options) {}

  void declare(FlagTable& flags) override {
    flags.usage("<benchmark> [<options>]").description(collection_.summary);
    flags.stop_at_first_word();
    std::vector<std::string> names;
    for (const BenchmarkInfo& info : collection_.benchmarks) names.emplace_back(info.name);
    names.emplace_back("all");
    flags.subcommands(std::move(names));
  }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty()) return nullptr;
    const BenchmarkInfo* info = find_benchmark(collection_, arguments[0]);
    return info ? std::make_unique<BenchBenchmark>(collection_, *info, options_) : nullptr;
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.empty()) {
      print_benchmarks(env.out, collection_);
      return 0;
    }
    if (arguments[0] != "all")
      return unknown(env, fmt::format("Unknown benchmark: '{}' for collection '{}'", arguments[0],
                                      collection_.name));
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: all takes no options");
    return run_all(env, options_, &collection_);
  }

 private:
  const BenchmarkCollection& collection_;
  const BenchOptions& options_;
};

class Bench final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<common options>] <collection> <benchmark> [<options>]");
    flags.description(
        R"(Runs small loads and tells how fast they are, to compare kernels and machines: benchmarks of the scheduler, system calls, memory, futexes and so on. `bench` lists the collections, `bench COLLECTION` its benchmarks, and `bench COLLECTION BENCHMARK -h` a benchmark's options. `all` runs every benchmark of a collection with its defaults, or every one there is.

The simple format prints only the numbers of benchmarks that have one result: seconds, or bytes per second. --repeat applies to benchmarks that average over runs (futexes), and to those of breakpoints.)");
    flags.section("EXAMPLES", R"(  sonde bench sched pipe -l 100000
  sonde bench -f simple sched messaging -g 4
  sonde bench mem memcpy -s 16MB -f all
  sonde bench futex hash -t 4 -r 2
  sonde bench syscall all)");
    flags.stop_at_first_word();
    flags
        .call('f', "format", "default|simple",
              "how results are printed: default, with texts, or simple, only their numbers",
              [this](std::string_view word) { return set_format(word); })
        .offers({"default", "simple"});
    flags.call('r', "repeat", "n",
               "how often benchmarks of futexes and breakpoints repeat what they measure (10)",
               [this](std::string_view word) { return set_repeat(word); });
    std::vector<std::string> names;
    for (const BenchmarkCollection& collection : benchmark_collections())
      names.emplace_back(collection.name);
    names.emplace_back("all");
    flags.subcommands(std::move(names));
  }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty()) return nullptr;
    const BenchmarkCollection* collection = find_collection(arguments[0]);
    return collection ? std::make_unique<BenchCollection>(*collection, options_) : nullptr;
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.empty()) {
      print_collections(env.out, env.tool);
      return 0;
    }
    if (arguments[0] != "all")
      return unknown(env, fmt::format("Unknown collection: '{}'", arguments[0]));
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: all takes no options");
    return run_all(env, options_, nullptr);
  }

 private:
  Result<> set_format(std::string_view word) {
    if (word != "default" && word != "simple")
      return fail(ErrorCode::kUsage, "expects default or simple, not '{}'", word);
    options_.format = word == "simple" ? BenchmarkFormat::kSimple : BenchmarkFormat::kDefault;
    return {};
  }

  Result<> set_repeat(std::string_view word) {
    options_.repeat = TRY(number_from<unsigned>(word));
    if (options_.repeat == 0)
      return fail(ErrorCode::kUsage, "expects a number of runs, at least 1");
    return {};
  }

  BenchOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_bench() {
  return std::make_unique<Bench>();
}

}  // namespace sonde
