// kwork report: how long the kernel's work took; kwork latency: how long it waited.
#include "cmd/kwork/live.h"
#include "kwork/work_report.h"

namespace sonde {
namespace {

constexpr std::string_view kReportText =
    R"(A table of the kernel's work: for each interrupt, softirq and work item, and each CPU, how long it ran in total, how often, and how long at most, and when that was. Events without their counterpart are counted below the table.

With -b no recording is read: BPF programs add up what the whole machine does while a command runs, or until interrupted.)";
constexpr std::string_view kLatencyText =
    R"(A table of the kernel's work: for each softirq and work item, and each CPU, how long it waited from being raised until it began: on average, and at most, and when that was. Interrupts have no raise event.

With -b no recording is read: BPF programs add up what the whole machine does while a command runs, or until interrupted.)";

class KworkTable final : public Command {
 public:
  KworkTable(WorkView view, KworkRequest request) : view_(view), request_(std::move(request)) {
    if (view_ == WorkView::kLatency) sort_ = "avg, max, count";
  }

  void declare(FlagTable& flags) override {
    bool is_latency = view_ == WorkView::kLatency;
    flags.usage("[<options>]");
    flags.description(is_latency ? kLatencyText : kReportText);
    flags.text('s', "sort", sort_, "key[,key2...]",
               is_latency ? "columns to sort by: avg, max, count (all, in this order)"
                          : "columns to sort by: runtime, max, count (all, in this order)");
    if (!is_latency)
      flags.boolean('S', "with-summary", with_summary_,
                    "also show totals: how often, how long, and how long was recorded");
    choice_.declare(flags);
    live_.declare(flags);
    request_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(live_.check(arguments));
    std::vector<WorkSortKey> sort = TRY(parse_work_sort(sort_));
    WorkOptions options = TRY(choice_.options(view_, request_));
    if (live_.use_bpf)
      return live_.measure(request_, choice_, options, arguments.words, env,
                           [&](const WorkAnalysis& measured) {
                             write_work_report(env.out, measured, sort, with_summary_, {});
                           });
    TRY(request_.input.dump_first(env));
    FileScan scan = TRY(request_.input.open_scan(env));
    TRY(need_work(scan, env));
    ScanMachine machine(scan);
    WorkNames names(machine, {}, env);
    WorkAnalysis analysis(std::move(options), names);
    PipelineCounts counts = read_work(scan, analysis, names, SortedBy::kConsumer, env.losses);
    write_work_report(env.out, analysis, sort, with_summary_, counts);
    return 0;
  }

 private:
  WorkView view_;
  KworkRequest request_;
  KworkFilter choice_;
  KworkLive live_;
  std::string sort_ = "runtime, max, count";
  bool with_summary_ = false;
};

}  // namespace

std::unique_ptr<Command> make_kwork_report(KworkRequest request) {
  return std::make_unique<KworkTable>(WorkView::kRuntime, std::move(request));
}

std::unique_ptr<Command> make_kwork_latency(KworkRequest request) {
  return std::make_unique<KworkTable>(WorkView::kLatency, std::move(request));
}

}  // namespace sonde
