// sched latency: how long tasks waited for a CPU.
#include "cmd/argument_count.h"
#include "cmd/cmd_sched.h"
#include "sched/latency_table.h"

namespace sonde {
namespace {

class SchedLatency final : public Command {
 public:
  explicit SchedLatency(RecordingInput input) : input_(std::move(input)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(A table of tasks: how long each ran, how often it got a CPU, and how long it waited for that after it had been woken or preempted: on average, at the most, and when that was. Tasks of one name are one line, with their number behind the name.)");
    flags.text('s', "sort", sort_, "key[,key2...]",
               "sort by key(s): runtime, switch, avg, max, pid");
    flags.boolean('p', "pids", per_task_, "latency stats per pid instead of per comm");
    flags.number('C', "CPU", cpu_, "n", "CPU to profile on");
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    // Before the work: a key that is none.
    std::vector<TaskLatency> rows;
    LatencyAnalysis::Options options;
    if (cpu_ && *cpu_ >= 0) options.only_cpu = static_cast<uint32_t>(*cpu_);
    LatencyAnalysis analysis(options);
    TRY(sort_latencies(rows, sort_, analysis.tasks()));

    FileWalk walk = TRY(input_.open_walk(env));
    SchedFeed feed(walk, env.losses);
    feed.want(LatencyAnalysis::wanted(feed));
    feed.sort_where_taken();
    feed.run([&](std::span<const SchedEvent> events) {
      for (const SchedEvent& event : events) analysis.take(event, feed);
    });
    rows = analysis.result(!per_task_);
    TRY(sort_latencies(rows, sort_, analysis.tasks()));
    write_latencies(env.out, rows, analysis, feed.counts());
    return 0;
  }

 private:
  RecordingInput input_;
  std::string sort_ = "avg, max, switch, runtime";
  bool per_task_ = false;
  std::optional<int64_t> cpu_;
};

}  // namespace

std::unique_ptr<Command> make_sched_latency(RecordingInput input) {
  return std::make_unique<SchedLatency>(std::move(input));
}

}  // namespace sonde
