// internals synthesize: describing tasks that already run by records, as record does when it
// starts: this process alone, or every process by a number of threads.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

#include <cstring>

#include "abi/perf_event.h"
#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/support/worker_threads.h"
#include "capture/synthesis/synthesis_tasks.h"

namespace sonde {

namespace {

uint64_t count_records(Bytes bytes) {
  uint64_t count = 0;
  abi::RecordHeader header{};
  for (; bytes.size() >= sizeof header; ++count) {
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes = bytes.subspan(header.size);
  }
  return count;
}

/// The averages over some iterations.
struct Synthesized {
  RunningStats us, records;

  void add(uint64_t ns, const ByteBuilder& out) {
    us.add(static_cast<double>(ns) / 1000);
    records.add(static_cast<double>(count_records(out.view())));
  }
  void show(Reporter& report, std::string_view indent, std::string_view what) const {
    report.line("{}Average {} took: {:.3f} usec (+- {:.3f} usec)", indent, what, us.mean(),
                us.error());
    report.line("{}Average num. events: {:.3f} (+- {:.3f})", indent, records.mean(),
                records.error());
    report.line("{}Average time per event {:.3f} usec", indent, us.mean() / records.mean());
  }
};

class Synthesize final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('I', "multi-iterations", multi_iterations_, "n",
                 "runs with each number of threads, for the average (200)");
    flags.number('i', "single-iterations", single_iterations_, "n",
                 "runs with one thread, for the average (10000)");
    flags.number('M', "max-threads", max_threads_, "n",
                 "with -t: the largest number of threads (default: as many as CPUs)");
    flags.number('m', "min-threads", min_threads_, "n",
                 "with -t: the number of threads to begin with (1)");
    flags.boolean('s', "st", single_, "describe this process, by one thread (the default)");
    flags.boolean('t', "mt", multi_, "describe every process, by several threads");
  }

  Result<> run(BenchmarkRun& run) override {
    if (single_ || !multi_) TRY(run_single(run));
    if (multi_) TRY(run_multi(run.report));
    return {};
  }

 private:
  [[nodiscard]] Result<> run_single(BenchmarkRun& run) const {
    run.report.line(
        "Computing performance of single threaded perf event synthesis by\n"
        "synthesizing events on the {} process itself:",
        run.env.tool);
    auto self = TRY(threads_of_processes(std::to_string(::getpid())));
    synthesize_self(self, false, run.env.losses).show(run.report, "  ", "synthesis");
    synthesize_self(self, true, run.env.losses).show(run.report, "  ", "data synthesis");
    return {};
  }

  [[nodiscard]] Synthesized synthesize_self(const std::vector<ThreadEntry>& self, bool data_maps,
                                            LossLedger& losses) const {
    TaskSynthesis what{.attr = &attr_, .data_maps = data_maps};
    Synthesized sums;
    ByteBuilder out;
    for (unsigned i = 0; i < single_iterations_; ++i) {
      out.clear();
      uint64_t start_ns = monotonic_ns();
      synthesise_threads(self, what, losses, out);
      sums.add(monotonic_ns() - start_ns, out);
    }
    return sums;
  }

  [[nodiscard]] Result<> run_multi(Reporter& report) const {
    unsigned most = max_threads_ ? max_threads_ : static_cast<unsigned>(allowed_cpus().size());
    if (min_threads_ == 0 || min_threads_ > most)
      return fail(ErrorCode::kUsage, "--min-threads {}: expected 1 to {}", min_threads_, most);
    report.line(
        "Computing performance of multi threaded perf event synthesis by\n"
        "synthesizing events on CPU 0:");
    for (unsigned threads = min_threads_; threads <= most; ++threads) {
      report.line("  Number of synthesis threads: {}", threads);
      synthesize_all(threads).show(report, "    ", "synthesis");
    }
    return {};
  }

  [[nodiscard]] Synthesized synthesize_all(unsigned threads) const {
    using Control = tbb::global_control;
    Control allow(Control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    TaskSynthesis what{.attr = &attr_};
    Synthesized sums;
    ByteBuilder out;
    for (unsigned i = 0; i < multi_iterations_; ++i) {
      out.clear();
      uint64_t start_ns = monotonic_ns();
      arena.execute([&] { synthesise_all_tasks(what, out); });
      sums.add(monotonic_ns() - start_ns, out);
    }
    return sums;
  }

  abi::EventAttr attr_{};
  unsigned multi_iterations_ = 200;
  unsigned single_iterations_ = 10'000;
  unsigned max_threads_ = 0;  // 0: as many as CPUs
  unsigned min_threads_ = 1;
  bool single_ = false;
  bool multi_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_internals_synthesize() {
  return std::make_unique<Synthesize>();
}

}  // namespace sonde
