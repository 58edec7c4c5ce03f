// sched map: who ran on each CPU, switch by switch.
#include "cli/argument_count.h"
#include "cmd/options/profile_flags.h"
#include "cmd/sched/sched.h"
#include "sched/latency_table.h"
#include "sched/switch_map.h"

namespace sonde {
namespace {

class SchedMap final : public Command {
 public:
  explicit SchedMap(RecordingInput input) : input_(std::move(input)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(A line per context switch: a column per CPU with the short name of the task that runs there, a star at the CPU that switched, the time, and the task behind each new short name. An idle CPU shows a dot.

With --task-name only switches to and from those tasks are shown; other tasks are a dash, and `*-' marks where one of those left.)");
    flags.boolean(0, "compact", options_.compact, "columns only for CPUs that were active");
    flags.call(0, "cpus", "cpus", "only these CPUs", numbers_into(options_.cpus));
    flags.call(0, "color-cpus", "cpus", "colour the stars of these CPUs",
               numbers_into(options_.color_cpus));
    flags.call(0, "color-pids", "pids", "colour the short names of these tasks",
               numbers_into(options_.color_tids));
    flags.call(0, "task-name", "task[,task...]", "only switches to and from tasks with these names",
               words_into(options_.names));
    flags.boolean(0, "fuzzy-name", options_.names_are_parts,
                  "names of --task-name may be parts of a task's name");
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    FileScan scan = TRY(input_.open_scan(env));
    TRY(need_one_of({"sched:sched_switch"}, scan, "sched record", env));
    SchedPipeline pipeline(scan, env.losses);
    pipeline.want(SwitchMap::wanted());
    pipeline.sort_where_taken();
    options_.name_always = input_.verbose > 0;
    options_.use_color = env.out.is_terminal() && !env.variable("NO_COLOR");
    options_.cpu_count = scan.features().cpus_available.value_or(1);
    SwitchMap map(options_, env.out);
    pipeline.run([&](std::span<const SchedEvent> events) {
      for (const SchedEvent& event : events) map.consume(event, pipeline);
    });
    map.flush();
    write_flaws(env.out, {}, pipeline.counts());
    return 0;
  }

 private:
  RecordingInput input_;
  SwitchMapOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_sched_map(RecordingInput input) {
  return std::make_unique<SchedMap>(std::move(input));
}

}  // namespace sonde
