// internals pmu-scan: reading from sysfs what PMUs there are, with their formats, events and
// capabilities: those of the cores, and all.
#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "event/pmu/pmu.h"

namespace sonde {

namespace {

void read_everything(const Pmu& pmu) {
  (void)pmu.cpus();
  (void)pmu.formats();
  (void)pmu.aliases();
  (void)pmu.caps();
}

class PmuScan final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('i', "iterations", iterations_, "n",
                 "how often to read everything, for the average (100)");
  }

  Result<> run(BenchmarkRun& run) override {
    run.report.line("Computing performance of sysfs PMU event scan for {} times", iterations_);
    time(run.report, "core PMU", [](PmuCatalog& pmus) {
      for (const Pmu* pmu : pmus.core()) read_everything(*pmu);
    });
    time(run.report, "PMU", [](PmuCatalog& pmus) {
      for (const Pmu* pmu : pmus.all()) read_everything(*pmu);
    });
    return {};
  }

 private:
  template <typename Scan>
  void time(Reporter& report, std::string_view what, Scan scan) const {
    RunningStats times_us;
    for (unsigned i = 0; i < iterations_; ++i) {
      uint64_t start_ns = monotonic_ns();
      PmuCatalog pmus;
      scan(pmus);
      times_us.add(static_cast<double>(monotonic_ns() - start_ns) / 1000);
    }
    report.line("  Average {} scanning took: {:.3f} usec (+- {:.3f} usec)", what, times_us.mean(),
                times_us.error());
  }

  unsigned iterations_ = 100;
};

}  // namespace

std::unique_ptr<Benchmark> make_internals_pmu_scan() {
  return std::make_unique<PmuScan>();
}

}  // namespace sonde
