// sched latency: how long tasks waited for a CPU.
#include "analysis/timelines/switch_coverage.h"
#include "cmd/sched/sched.h"
#include "sched/latency_table.h"
#include "sched/measured_schedule.h"
#include "sched/sum_records.h"
#include "sched/totals_of_events.h"
#include "sched/wall_clock_table.h"

namespace sonde {
namespace {

class SchedLatency final : public Command {
 public:
  explicit SchedLatency(RecordingInput input) : input_(std::move(input)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.usage("--live [<options>] [<command>]");
    flags.stop_at_first_word();
    flags.description(
        R"(A table of tasks: how long each ran, how often it got a CPU, and how long it waited for one after being woken or preempted: on average, at most, and when that was. Tasks of the same name share a line, with their number after the name.

The file comes from `sched record`, with events, or from `sched record --summary`, with the sums of each task. With --live there is no file: the kernel adds up the times while a command runs, or until interrupted.)");
    flags.text('s', "sort", sort_, "key[,key2...]",
               "columns to sort by: runtime, switch, avg, max, pid (avg, max, switch, runtime)");
    flags.boolean('p', "pids", per_task_, "a line per task, also if tasks have the same name");
    flags.number('C', "CPU", cpu_, "n", "only what happened on this CPU");
    flags.boolean(0, "live", live_, "measure now, in the kernel, instead of reading a file");
    flags.boolean(0, "wall-clock", wall_clock_,
                  "instead show how each task spent its time: on a CPU, waiting for one, sleeping, "
                  "blocked");
    flags.boolean(0, "histogram", histogram_, "also show the distribution of all tasks' delays");
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    // Reject an unknown key before doing the work.
    std::vector<TaskLatency> rows;
    TRY(sort_latencies(rows, sort_));
    if (live_) return measure(arguments, env);
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "Error: too many arguments; measuring a command needs --live");
    FileScan scan = TRY(input_.open_scan(env));
    if (has_sched_sums(scan.events())) {
      TRY(check_sums(input_.chosen_path(env)));
      RecordedTotals recorded = read_sched_sums(scan, env.losses);
      return show_sums(recorded.sums, recorded.counts, env);
    }
    TRY(need_one_of({"sched:sched_switch", "sched:sched_stat_runtime"}, scan, "sched record", env));
    return wall_clock_ ? divide(scan, env) : analyse(scan, env);
  }

 private:
  /// Rejects options that need individual events.
  [[nodiscard]] Result<> check_sums(std::string_view name) const {
    if (cpu_ && *cpu_ >= 0)
      return fail(ErrorCode::kUsage,
                  "Error: {}: sums cover all CPUs; -C applies to the table of events", name);
    return {};
  }

  Result<int> measure(const Arguments& arguments, Env& env) {
    TRY(check_sums("--live"));
    MeasuredSchedule measured = TRY(measure_schedule(arguments.words, env));
    PipelineCounts counts;
    counts.records = measured.sums.size() + measured.lost;
    counts.lost = measured.lost;
    counts.lost_chunks = 1;
    TRY(show_sums(measured.sums, counts, env));
    return measured.status;
  }

  Result<int> divide(FileScan& scan, Env& env) {
    TRY(check_sums("--wall-clock"));
    // A division of a task's life needs all of it; the table of delays has what there is.
    for (const EventDesc& event : scan.events().all())
      if (event.name == "sched:sched_switch") TRY(need_each_time(input_.chosen_path(env), event));
    TotalsOfEvents sums;
    SchedPipeline pipeline(scan, env.losses);
    pipeline.want(TotalsOfEvents::wanted(pipeline));
    pipeline.sort_where_taken();
    pipeline.run([&](std::span<const SchedEvent> events) {
      for (const SchedEvent& event : events) sums.consume(event, pipeline);
    });
    return show_sums(sums.result(), pipeline.counts(), env);
  }

  Result<int> analyse(FileScan& scan, Env& env) {
    LatencyAnalysis::Options options;
    options.histograms = histogram_;
    if (cpu_ && *cpu_ >= 0) options.only_cpu = static_cast<uint32_t>(*cpu_);
    LatencyAnalysis analysis(options);
    SchedPipeline pipeline(scan, env.losses);
    pipeline.want(LatencyAnalysis::wanted(pipeline));
    pipeline.sort_where_taken();
    pipeline.run([&](std::span<const SchedEvent> events) {
      for (const SchedEvent& event : events) analysis.consume(event, pipeline);
    });
    return show(analysis.result(!per_task_), analysis.bad(), pipeline.counts(), env);
  }

  Result<int> show_sums(const std::vector<SchedSum>& sums, const PipelineCounts& counts, Env& env) {
    if (!wall_clock_) return show(latencies_of(sums, !per_task_), {}, counts, env);
    write_wall_clock(env.out, lives_of(sums, !per_task_));
    write_flaws(env.out, {}, counts);
    return 0;
  }

  Result<int> show(std::vector<TaskLatency> rows, const BadSchedEvents& bad,
                   const PipelineCounts& counts, Env& env) {
    TRY(sort_latencies(rows, sort_));
    write_latencies(env.out, rows, bad, counts);
    if (histogram_) write_delays(env.out, rows);
    return 0;
  }

  RecordingInput input_;
  std::string sort_ = "avg, max, switch, runtime";
  bool per_task_ = false, live_ = false, histogram_ = false, wall_clock_ = false;
  std::optional<int64_t> cpu_;
};

}  // namespace

std::unique_ptr<Command> make_sched_latency(RecordingInput input) {
  return std::make_unique<SchedLatency>(std::move(input));
}

}  // namespace sonde
