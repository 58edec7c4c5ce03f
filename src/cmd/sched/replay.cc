// sched replay: reproduces the recorded load with threads that run, sleep and wake each other
// likewise.
#include "cli/argument_count.h"
#include "cmd/sched/sched.h"
#include "sched/replay_runner.h"

namespace sonde {
namespace {

constexpr double kMillisecond = 1e6;

/// The figures of successive rounds, with averages that decay slowly.
class RoundLog {
 public:
  RoundLog(Sink& out, uint64_t rounds) : out_(out), weight_(static_cast<double>(rounds)) {}

  void add(const ReplayRound& round) {
    auto wall = static_cast<double>(round.wall_ns), cpu = static_cast<double>(round.cpu_ns);
    if (++count_ == 1) {
      wall_ = wall;
      cpu_ = cpu;
    }
    wall_ = (wall_ * (weight_ - 1) + wall) / weight_;
    cpu_ = (cpu_ * (weight_ - 1) + cpu) / weight_;
    out_.print("#{:<3}: {:.3f}, ravg: {:.2f}, cpu: {:.2f} / {:.2f}\n", count_, wall / kMillisecond,
               wall_ / kMillisecond, cpu / kMillisecond, cpu_ / kMillisecond);
    out_.flush();
  }

 private:
  Sink& out_;
  double weight_;
  double wall_ = 0, cpu_ = 0;
  uint64_t count_ = 0;
};

void write_plan(Sink& out, const ReplayPlan& plan) {
  const PlanCounts& counts = plan.counts();
  out.print("nr_run_events:        {}\nnr_sleep_events:      {}\nnr_wakeup_events:     {}\n",
            counts.runs, counts.sleeps, counts.wakeups);
  if (counts.without_target > 0) out.print("target-less wakeups:  {}\n", counts.without_target);
  if (counts.with_many > 0) out.print("multi-target wakeups: {}\n", counts.with_many);
  if (counts.merged_runs > 0) out.print("run atoms optimized: {}\n", counts.merged_runs);
  for (size_t i = 0; i < plan.tasks().size(); ++i) {
    const ReplayTask& task = plan.tasks()[i];
    out.print("task {:6} ({:>20}:{:10}), nr_events: {}\n", i, task.name,
              static_cast<int32_t>(task.tid), task.steps.size());
  }
}

class SchedReplay final : public Command {
 public:
  explicit SchedReplay(RecordingInput input) : input_(std::move(input)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Reproduces the recorded load: a thread for each task, which uses the CPU for as long as the task did, sleeps where it slept and wakes the tasks that it woke. A line per round shows what that takes on this machine, with its scheduler: the elapsed time and its running average, the CPU time and its running average, in milliseconds.

Time in which CPUs were idle passes without using the CPU.)");
    flags.number('r', "repeat", repeat_, "n", "rounds (10); -1: until interrupted");
    input_.declare(flags);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    if (repeat_ < -1)
      return fail(ErrorCode::kUsage, "Error: -r: {} is not a number of rounds", repeat_);
    ReplayPlan plan;
    TRY(read(plan, env));
    ReplayOverheads overheads = measure_replay_overheads();
    env.out.print(
        "run measurement overhead: {} nsecs\nsleep measurement overhead: {} nsecs\n"
        "the run test took {} nsecs\nthe sleep test took {} nsecs\n",
        overheads.run_ns, overheads.sleep_ns, overheads.run_test_ns, overheads.sleep_test_ns);
    write_plan(env.out, plan);
    plan.chain_ends();
    env.out.print("{:-<60}\n", "");
    env.out.flush();
    ReplayRunner runner = TRY(ReplayRunner::start(plan, overheads));
    uint64_t rounds = repeat_ <= 0 ? UINT32_MAX : static_cast<uint64_t>(repeat_);
    RoundLog log(env.out, rounds);
    for (uint64_t i = 0; (repeat_ <= 0 || i < rounds) && env.out.failed() == 0; ++i)
      log.add(runner.run());
    return 0;
  }

 private:
  Result<> read(ReplayPlan& plan, Env& env) {
    FileScan scan = TRY(input_.open_scan(env));
    TRY(need_one_of({"sched:sched_switch"}, scan, "sched record", env));
    SchedPipeline pipeline(scan, env.losses);
    pipeline.want(ReplayPlan::wanted(pipeline));
    pipeline.sort_where_taken();
    pipeline.run([&](std::span<const SchedEvent> events) {
      for (const SchedEvent& event : events) plan.consume(event, pipeline);
    });
    return {};
  }

  RecordingInput input_;
  int64_t repeat_ = 10;
};

}  // namespace

std::unique_ptr<Command> make_sched_replay(RecordingInput input) {
  return std::make_unique<SchedReplay>(std::move(input));
}

}  // namespace sonde
