// internals inject-build-id: `inject -b` and `inject --buildid-all` of this program on a recording
// that is made up, each time in a new process.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/internals/made_recording.h"
#include "benchmarks/support/child_processes.h"

namespace sonde {

namespace {

class InjectBuildId final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('i', "iterations", iterations_, "n", "runs of each inject, for the average (100)");
    flags.number('m', "nr-mmaps", mappings_, "n", "mappings in the recording (100)");
    flags.number('n', "nr-samples", samples_, "n", "samples of each mapping (100)");
    flags.boolean('v', "verbose", verbose_,
                  "say how many objects the mappings are of, and count the runs");
  }

  Result<> run(BenchmarkRun& run) override {
    constexpr uint64_t kMaxRecords = 10'000'000;  // half a gigabyte
    if (mappings_ == 0 || uint64_t{mappings_} * (uint64_t{samples_} + 1) > kMaxRecords)
      return fail(ErrorCode::kUsage, "--nr-mmaps {} with --nr-samples {}: expected 1 to {} records",
                  mappings_, samples_, kMaxRecords);
    std::vector<std::string> objects = TRY(own_objects());
    if (verbose_) run.report.line("  Collected {} DSOs", objects.size());
    recording_ = TRY(make_recording(objects, mappings_, samples_));
    TRY(measure(run.report, "", "-b"));
    return measure(run.report, "-all", "--buildid-all");
  }

 private:
  Result<> measure(Reporter& report, std::string_view suffix, const char* option) {
    RunningStats times_ms, memory_kb;
    if (verbose_) report.line("  Build-id{} injection benchmark", suffix);
    for (unsigned i = 0; i < iterations_; ++i) {
      if (verbose_) report.line("  Iteration #{}", i + 1);
      ChildProcesses child;
      uint64_t start_ns = monotonic_ns();
      TRY(child.start([&] { return inject(option); }));
      pid_t pid = child.last();
      if (Result<> done = child.wait(); !done)
        return fail(ErrorCode::kFailed, "inject {} failed on the recording", option);
      times_ms.add(static_cast<double>(monotonic_ns() - start_ns) / 1e6);
      memory_kb.add(static_cast<double>(child.peak_memory_kb()));
      if (verbose_) report.line("   Child {} exited with 0", pid);
    }
    // Each mapping stands for itself, its samples, and what is injected for it.
    double events = double{1} * mappings_ * (samples_ + 2);
    report.line("  Average build-id{} injection took: {:.3f} msec (+- {:.3f} msec)", suffix,
                times_ms.mean(), times_ms.error());
    report.line("  Average time per event: {:.3f} usec (+- {:.3f} usec)",
                times_ms.mean() * 1000 / events, times_ms.error() * 1000 / events);
    report.line("  Average memory usage: {:.0f} KB (+- {:.0f} KB)", memory_kb.mean(),
                memory_kb.error());
    return {};
  }

  /// In the child: becomes this program's inject. Returns only if that fails.
  [[nodiscard]] bool inject(const char* option) const {
    ::lseek(recording_.get(), 0, SEEK_SET);
    ::dup2(recording_.get(), STDIN_FILENO);
    auto word = [](const char* text) { return const_cast<char*>(text); };
    std::array<char*, 6> words = {word("sonde"), word("inject"),    word(option),
                                  word("-o"),    word("/dev/null"), nullptr};
    ::execv("/proc/self/exe", words.data());
    return false;
  }

  Fd recording_;
  unsigned iterations_ = 100;
  unsigned mappings_ = 100;
  unsigned samples_ = 100;
  bool verbose_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_internals_inject_build_id() {
  return std::make_unique<InjectBuildId>();
}

}  // namespace sonde
