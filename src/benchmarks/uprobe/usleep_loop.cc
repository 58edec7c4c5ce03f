#include "benchmarks/uprobe/usleep_loop.h"

#include <dlfcn.h>
#include <unistd.h>

#include "base/clock.h"

namespace sonde {

namespace {

constexpr unsigned kSleepUs = 1000;

/// The file that contains usleep().
Result<std::string> library_of_usleep() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&::usleep), &info) != 0 && info.dli_fname != nullptr &&
      info.dli_fname[0] == '/')
    return std::string(info.dli_fname);
  return fail(ErrorCode::kUnsupported, "usleep(): its library is not known: is it linked in?");
}

class UsleepLoop final : public Benchmark {
 public:
  explicit UsleepLoop(std::optional<UsleepProbe> probe) : probe_(probe) {}

  void declare(FlagTable& flags) override {
    flags.number('l', "loop", loops_, "n", "calls of usleep(1000) to make (1000)");
  }

  Result<> run(BenchmarkRun& run) override {
    ComparedTime time{};
    time.done = fmt::format("Executed {} usleep({}) calls", loops_, kSleepUs);
    time.operations = loops_;
    std::optional<FunctionProbe> attached;
    if (probe_) {
      std::string library = TRY(library_of_usleep());
      time.baseline_ns = calls_ns();
      attached = TRY(FunctionProbe::attach(library, "usleep", probe_->at_return, probe_->program));
    }
    time.elapsed_ns = calls_ns();
    run.report.report(time);
    return {};
  }

 private:
  [[nodiscard]] uint64_t calls_ns() const {
    uint64_t start_ns = monotonic_ns();
    for (unsigned i = 0; i < loops_; ++i) ::usleep(kSleepUs);
    return monotonic_ns() - start_ns;
  }

  std::optional<UsleepProbe> probe_;
  unsigned loops_ = 1000;
};

}  // namespace

std::unique_ptr<Benchmark> make_usleep_loop(std::optional<UsleepProbe> probe) {
  return std::make_unique<UsleepLoop>(probe);
}

}  // namespace sonde
