// internals kallsyms-parse: reading the kernel's symbols into a table, as report does.
#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "symbol/kallsyms.h"

namespace sonde {

namespace {

class KallsymsParse final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('i', "iterations", iterations_, "n",
                 "how often to read the file, for the average (1)");
  }

  Result<> run(BenchmarkRun& run) override {
    RunningStats times_ms;
    for (unsigned i = 0; i < iterations_; ++i) {
      uint64_t start_ns = monotonic_ns();
      Kallsyms kernel = TRY(Kallsyms::read("/proc/kallsyms"));
      times_ms.add(static_cast<double>(monotonic_ns() - start_ns) / 1e6);
      if (kernel.restricted())
        return fail(ErrorCode::kPermission,
                    "/proc/kallsyms: its addresses are hidden: lower "
                    "/proc/sys/kernel/kptr_restrict, or run as root");
    }
    run.report.line("  Average kallsyms__parse took: {:.3f} ms (+- {:.3f} ms)", times_ms.mean(),
                    times_ms.error());
    return {};
  }

 private:
  unsigned iterations_ = 1;
};

}  // namespace

std::unique_ptr<Benchmark> make_internals_kallsyms_parse() {
  return std::make_unique<KallsymsParse>();
}

}  // namespace sonde
