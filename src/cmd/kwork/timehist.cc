// kwork timehist: each occurrence of kernel work, how long it took and how long it had waited.
#include "cli/argument_count.h"
#include "cmd/kwork/kwork.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/scan_or_session.h"
#include "kwork/work_history.h"

namespace sonde {
namespace {

// Where work began.
constexpr std::array<std::string_view, 4> kEntries{"irq:irq_handler_entry", "irq:softirq_entry",
                                                   "workqueue:workqueue_execute_start",
                                                   "sched:sched_switch"};
constexpr std::array<std::string_view, 2> kSoftirqEntries{"__softirqentry_text_start",
                                                          "__do_softirq"};
constexpr StackSubject kEntryStacks{kEntries, kSoftirqEntries};

class KworkTimehist final : public Command {
 public:
  explicit KworkTimehist(KworkRequest request) : request_(std::move(request)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(A line each time an interrupt, a softirq or a work item ended: when it began and ended, on which CPU, how long it ran, and how long it had waited since it was raised. With -g, the line ends with the place where work last began, which is its own unless other CPUs began work in the meantime.)");
    flags.boolean('g', "call-graph", wants_stacks_,
                  "end lines with where the work began, if the recording has call chains");
    flags.number(0, "max-stack", max_stack_, "n", "functions of a call chain to show (5)");
    choice_.declare(flags);
    declare_symbol_sources(flags, symbols_);  // -k is the kernel's image here, as in perf
    request_.declare_input(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    WorkOptions options = TRY(choice_.options(WorkView::kHistory, request_));
    TRY(request_.input.dump_first(env));
    ScanOrSession recording(request_.input, stack_session(symbols_, max_stack_), env);
    TRY(recording.open());
    TRY(need_work(recording.scan(), env));
    if (wants_stacks_ && EventStacks::are_in(recording.scan().events(), kEntryStacks))
      TRY(recording.add_stacks(kEntryStacks));
    EventStacks* stacks = recording.stacks();
    ScanMachine machine(recording.scan());
    WorkNames names(machine, symbols_, env);
    WorkAnalysis analysis(std::move(options), names);
    WorkHistory history(env.out);
    std::string_view stack;
    if (stacks != nullptr)
      analysis.on_begin([&](const TracepointItem& item) {
        if (std::string_view own = stacks->text(item.record); !own.empty()) stack = own;
      });
    analysis.on_span([&](const Work& work, const WorkSpan& span) {
      history.write(work, span, stacks != nullptr ? &stack : nullptr);
    });
    history.write_head();
    read_work(recording.scan(), analysis, names, SortedBy::kOwnStep, recording.losses());
    return 0;
  }

 private:
  KworkRequest request_;
  KworkFilter choice_;
  SymbolOptions symbols_;
  bool wants_stacks_ = false;
  uint32_t max_stack_ = 5;
};

}  // namespace

std::unique_ptr<Command> make_kwork_timehist(KworkRequest request) {
  return std::make_unique<KworkTimehist>(std::move(request));
}

}  // namespace sonde
