// kwork: the cost of the kernel's own work: interrupts, softirqs, workqueues, and the tasks
// besides.
#include "cmd/kwork/kwork.h"
#include "cli/command_family.h"

#include "base/text.h"
#include "cmd/options/profile_flags.h"
#include "replay/fields/time_ranges.h"

namespace sonde {
namespace {

Result<> parse_classes(std::string_view words, std::vector<WorkClass>& classes) {
  for (std::string_view part : split(words, ',')) {
    for (std::string_view word : split(part, ' ')) {
      if (word.empty()) continue;
      std::optional<WorkClass> found = work_class_of(word);
      if (!found)
        return fail(ErrorCode::kUsage, "expects irq, softirq, workqueue or sched, not '{}'", word);
      classes.push_back(*found);
    }
  }
  return {};
}

class Kwork final : public CommandFamily {
 public:
  Kwork() : CommandFamily("kwork") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|report|latency|timehist|top}");
    declare_members(flags);
    flags.description(
        R"(Records what the kernel does besides running tasks (`kwork record`), and shows for each interrupt, softirq and work item how long it ran (`report`), how long it waited after it was raised (`latency`), and both for each occurrence (`timehist`). `top` adds up who used the CPUs' time.

The options here may also follow the subcommand.)");
    flags.section("EXAMPLES", R"(  sonde kwork record -- sleep 1
  sonde kwork report -S
  sonde kwork latency
  sonde kwork timehist -n NET_RX
  sonde kwork -k sched,irq,softirq record -- make
  sonde kwork top)");
    request_.declare(flags);
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"record", [this] { return make_kwork_record(request_); }},
            {"report", [this] { return make_kwork_report(request_); }},
            {"latency", [this] { return make_kwork_latency(request_); }},
            {"timehist", [this] { return make_kwork_timehist(request_); }},
            {"top", [this] { return make_kwork_top(request_); }}};
  }

  KworkRequest request_;
};

}  // namespace

Result<> need_work(const FileScan& scan, const Env& env) {
  return need_one_of({"irq:irq_handler_entry", "irq:softirq_entry", "irq:softirq_raise",
                      "workqueue:workqueue_execute_start", "workqueue:workqueue_activate_work",
                      "sched:sched_switch"},
                     scan, "kwork record", env);
}

void KworkRequest::declare(FlagTable& flags) {
  flags
      .call('k', "kwork", "kwork",
            "kinds of work: irq, softirq, workqueue, sched (`top`: irq,softirq,sched; else "
            "irq,softirq,workqueue)",
            [this](std::string_view words) { return parse_classes(words, classes); })
      .offers({"irq", "softirq", "workqueue", "sched"});
  declare_input(flags);
}

void KworkRequest::declare_input(FlagTable& flags) {
  flags.boolean('D', "dump-raw-trace", input.dump, "print every record before the table");
  input.declare(flags);
}

void KworkFilter::declare(FlagTable& flags) {
  flags.call('C', "cpu", "cpu", "only work on these CPUs", numbers_into(cpus));
  flags.text('n', "name", name, "name", "only work of this name, such as NET_RX");
  flags.text(0, "time", time, "str", "only this span: start,stop in seconds");
}

Result<WorkOptions> KworkFilter::options(WorkView view, const KworkRequest& request) const {
  WorkOptions options{.view = view, .cpus = cpus, .name = name};
  if (!request.classes.empty()) options.classes = request.classes;
  options.time = TRY(parse_time_span(time));
  return options;
}

PipelineCounts read_work(FileScan& scan, WorkAnalysis& analysis, WorkNames& names,
                         SortedBy sorted_by, LossLedger& losses) {
  std::vector<TracepointRequest> requests = work_requests(analysis.options().classes);
  TracepointPipeline pipeline(scan, requests, losses);
  pipeline.want_records({abi::kRecordMmap, abi::kRecordMmap2, abi::kRecordKsymbol});
  pipeline.run(
      [&](std::span<const TracepointItem> items) {
        for (const TracepointItem& item : items) {
          if (item.kind != TracepointItem::kOther)
            analysis.consume(item, pipeline);
          else
            names.keep({item.time, EventId(size_t{item.event}), pipeline.record(item)});
        }
      },
      sorted_by);
  return pipeline.counts();
}

std::unique_ptr<Command> make_kwork() {
  return std::make_unique<Kwork>();
}

}  // namespace sonde
