// kvm stat live.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>

#include "capture/recorders/capture_values.h"
#include "cli/argument_count.h"
#include "cmd/kvm/kvm.h"
#include "kvm/kvm_live.h"

namespace sonde {
namespace {

class KvmStatLive final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(The table of `kvm stat report` for what happens now, added up anew for each screen: on the whole machine (-a, the default), or of a virtual machine's process (-p). q or an interrupt ends it.)");
    flags.boolean('a', "all-cpus", o_.record.target.all_cpus, "all virtual machines (the default)");
    flags.call('d', "display", "n", "seconds for which a screen adds up (1)",
               [this](std::string_view text) -> Result<> {
                 constexpr double kMin_s = 0.1;
                 o_.display_s = TRY(number_from<double>(text));
                 if (!(o_.display_s >= kMin_s))
                   return fail(ErrorCode::kUsage, "-d: the shortest time is {} s", kMin_s);
                 return {};
               });
    flags.call('m', "mmap-pages", "pages",
               "size of each ring buffer, in pages or with unit B, K, M or G (512 pages)",
               ring_pages_into(o_.record.ring_pages));
    flags.count('v', "verbose", o_.record.verbose, "given twice: print how the events are opened");
    flags.number(0, "duration", slow_us_, "n",
                 "also name each exit that takes longer than this many microseconds, except HLT");
    flags
        .number(0, "proc-map-timeout", o_.record.synthesis.map_timeout_ms, "n",
                "no effect: exits of guests need no mappings, and none are read")
        .without_effect("exits of guests need no mappings, and none are read");
    declare_kvm_view(flags, o_.view);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    constexpr uint64_t kRingPages = 512, kMicrosecond = 1000;
    TargetOptions& target = o_.record.target;
    target.pids = fmt::format("{}", fmt::join(o_.view.pids, ","));
    if (!target.has_task()) target.all_cpus = true;
    o_.record.quiet = true;
    if (o_.record.ring_pages == 0) o_.record.ring_pages = kRingPages;
    o_.record.sampling.period = 1;
    o_.record.sampling.clockid = CLOCK_MONOTONIC;
    o_.record.sampling.bpf_events = false;
    if (slow_us_ > 0) o_.view.slow_ns = slow_us_ * kMicrosecond;
    return run_kvm_live(o_, env);
  }

 private:
  KvmLiveOptions o_;
  uint64_t slow_us_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_kvm_stat_live() {
  return std::make_unique<KvmStatLive>();
}

}  // namespace sonde
