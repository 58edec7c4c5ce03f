// kwork top: which tasks used the CPUs' time.
#include "cmd/kwork/live.h"
#include "kwork/work_shares.h"

namespace sonde {
namespace {

class KworkTop final : public Command {
 public:
  explicit KworkTop(KworkRequest request) : request_(std::move(request)) {
    if (request_.classes.empty())
      request_.classes = {WorkClass::kSched, WorkClass::kIrq, WorkClass::kSoftirq};
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(How busy each CPU was, and a table of tasks: the share of a CPU's time that each ran, without the interrupts and softirqs during it. It is counted from switch to switch, not sampled: short-lived tasks are included. The recording must come from `kwork -k sched,irq,softirq record`; with -b none is read: BPF programs add up the times while a command runs, or until interrupted.)");
    flags.text('s', "sort", sort_, "key[,key2...]",
               "columns to sort by: rate, runtime, tid (rate, runtime)");
    choice_.declare(flags);
    live_.declare(flags);
    request_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(live_.check(arguments));
    std::vector<ShareSortKey> sort = TRY(parse_share_sort(sort_));
    WorkOptions options = TRY(choice_.options(WorkView::kShares, request_));
    if (live_.use_bpf)
      return live_.measure(request_, choice_, options, arguments.words, env,
                           [&](const WorkAnalysis& measured) {
                             write_work_shares(env.out, work_shares(measured, sort));
                           });
    TRY(request_.input.dump_first(env));
    FileScan scan = TRY(request_.input.open_scan(env));
    TRY(need_one_of({"sched:sched_switch"}, scan, "kwork -k sched,irq,softirq record", env));
    ScanMachine machine(scan);
    WorkNames names(machine, {}, env);
    WorkAnalysis analysis(std::move(options), names);
    read_work(scan, analysis, names, SortedBy::kConsumer, env.losses);
    write_work_shares(env.out, work_shares(analysis, sort));
    return 0;
  }

 private:
  KworkRequest request_;
  KworkFilter choice_;
  KworkLive live_;
  std::string sort_ = "rate, runtime";
};

}  // namespace

std::unique_ptr<Command> make_kwork_top(KworkRequest request) {
  return std::make_unique<KworkTop>(std::move(request));
}

}  // namespace sonde
