// sched timehist: the length of each stay on a CPU, and how long the task had waited for it.
#include "sched/timehist.h"
#include "cli/argument_count.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/scan_or_session.h"
#include "cmd/sched/sched.h"
#include "replay/fields/time_ranges.h"

namespace sonde {
namespace {

class SchedTimehist final : public Command {
 public:
  explicit SchedTimehist(RecordingInput input) : input_(std::move(input)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(A line per context switch, about the task that leaves its CPU: how long it had been off the CPU before (wait time), how much of that it was woken but had no CPU (sch delay), and how long it then ran. If the recording has call chains, the line ends with the place where the task left.

-s shows the sums of each task instead, -S after the lines.)");
    flags.boolean(
        'g', "call-graph", want_stacks_,
        "end lines with where the task left its CPU, if the recording has call chains (default)");
    flags.number(0, "max-stack", max_stack_, "n", "functions of a call chain to show (5)");
    flags.boolean('s', "summary", summary_only_, "the sums of each task, instead of lines");
    flags.boolean('S', "with-summary", summary_, "the sums of each task, after the lines");
    flags.boolean('w', "wakeups", options_.wakeups, "also a line per wakeup");
    flags.boolean('n', "next", options_.next, "end lines with the task that runs next");
    flags.boolean('M', "migrations", options_.migrations,
                  "also a line per migration; without this, sums do not count them");
    flags.boolean('V', "cpu-visual", options_.cpu_visual,
                  "a column per CPU, marked where the event happened");
    flags.boolean('I', "idle-hist", options_.idle_only,
                  "only when CPUs were idle, and which task left them so");
    flags.text(0, "time", time_, "str", "only this span: start,stop in seconds");
    flags.boolean(0, "state", options_.state,
                  "the state in which tasks left their CPU; in sums, what they waited for");
    flags.boolean(0, "show-prio", options_.priority, "also the priorities of tasks");
    flags.call(0, "prio", "prio[,prio...]", "only while tasks had these priorities",
               numbers_into(options_.priorities));
    flags.call('p', "pid", "pid[,pid...]", "only threads of these processes",
               numbers_into(options_.pids));
    flags.call('t', "tid", "tid[,tid...]", "only these threads", numbers_into(options_.tids));
    flags.call('C', "cpu", "cpu", "only these CPUs", numbers_into(options_.cpus));
    declare_symbol_sources(flags, symbols_);
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(check(arguments));
    ScanOrSession recording(input_, stack_session(symbols_, max_stack_), env);
    TRY(recording.open());
    TRY(look_at(recording.scan(), env));
    if (options_.stacks) TRY(recording.add_stacks(switch_stacks()));
    SchedPipeline pipeline(recording.scan(), recording.losses());
    auto text = [&](const SchedEvent& event) { return recording.stacks()->text(event.record); };
    Timehist history(options_, text, env.out);
    pipeline.want(history.wanted(pipeline));
    if (summary_only_) pipeline.sort_where_taken();
    history.begin();
    pipeline.run([&](std::span<const SchedEvent> events) {
      for (const SchedEvent& event : events) history.consume(event, pipeline);
    });
    if (summary_ || summary_only_) history.write_summary();
    return 0;
  }

 private:
  Result<> check(const Arguments& arguments) {
    TRY(no_arguments(arguments));
    if ((options_.wakeups || options_.next) && summary_only_)
      return fail(
          ErrorCode::kUsage,
          " Error: -s shows no lines to which -n and -w could add: -S shows sums and lines");
    options_.time = TRY(parse_time_span(time_));
    options_.lines = !summary_only_;
    return {};
  }

  /// Finds out what the recording can show.
  Result<> look_at(const FileScan& scan, Env& env) {
    TRY(need_one_of({"sched:sched_switch"}, scan, "sched record", env));
    constexpr uint32_t kGuess = 4;  // if the recording does not give the CPU count
    options_.cpu_count = scan.features().cpus_online.value_or(kGuess);
    options_.stacks = want_stacks_ && EventStacks::are_in(scan.events(), switch_stacks());
    if (want_stacks_ && !options_.stacks)
      env.err.print("the recording has no call chains: `sched record -g` makes one that has\n");
    return {};
  }

  RecordingInput input_;
  TimehistOptions options_;
  SymbolOptions symbols_;
  bool want_stacks_ = true, summary_ = false, summary_only_ = false;
  uint32_t max_stack_ = 5;
  std::string time_;
};

}  // namespace

std::unique_ptr<Command> make_sched_timehist(RecordingInput input) {
  return std::make_unique<SchedTimehist>(std::move(input));
}

}  // namespace sonde
