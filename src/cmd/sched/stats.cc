// sched stats: the scheduler's own counters before and after: recorded, shown or compared.
#include <algorithm>

#include "cli/argument_count.h"
#include "cmd/options/profile_flags.h"
#include "cmd/sched/sched.h"
#include "perfdata/write/recording_place.h"
#include "sched/schedstat_run.h"
#include "sched/schedstat_table.h"

namespace sonde {
namespace {

class StatsRecord final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.stop_at_first_word();
    flags.description(
        R"(Saves the scheduler's counters of all CPUs, /proc/schedstat, before and after the command; without a command, now and when interrupted. Nothing is measured in between, so the load is not disturbed.)");
    flags.text('o', "output", path_, "file", "file to write (perf.data)");
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(check_recording_place(path_));
    SchedstatRun run = TRY(measure_schedstat(arguments.words, env));
    TRY(write_schedstat_file(path_, run, env));
    env.err.print("[ {} sched stats: Wrote samples to {} ]\n", env.tool, path_);
    return run.status;
  }

 private:
  std::string path_ = "perf.data";
};

/// Flags of the commands that show counters.
struct StatsView {
  std::vector<uint32_t> cpus;

  void declare(FlagTable& flags) {
    flags.call('C', "cpu", "cpu", "only these CPUs, beside the average one", numbers_into(cpus));
  }
  [[nodiscard]] SchedstatTableOptions options(int verbose) const {
    SchedstatTableOptions options{.descriptions = verbose > 0};
    if (!cpus.empty())
      options.shows_cpu = [this](uint32_t cpu) {
        return std::ranges::find(cpus, cpu) != cpus.end();
      };
    return options;
  }
};

class StatsReport final : public Command {
 public:
  explicit StatsReport(RecordingInput input) : input_(std::move(input)) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(What the scheduler counted during a recording by `sched stats record`: on the average CPU and on each, and in each of their scheduling domains. Counters that are part of another are followed by their share of it; events, by the average number of jiffies between them. Lines with a star are computed from others. -v prints descriptions instead of the counters' names.)");
    view_.declare(flags);
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }
  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    Schedstat counted =
        TRY(schedstat_of_file(input_.chosen_path(env), input_.open_options(env), env));
    write_schedstat(env.out, counted, view_.options(input_.verbose));
    return 0;
  }

 private:
  RecordingInput input_;
  StatsView view_;
};

class StatsDiff final : public Command {
 public:
  explicit StatsDiff(RecordingInput input) : input_(std::move(input)) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<old file> <new file>]");
    flags.description(
        R"(The average CPU and its domains in two recordings by `sched stats record` side by side, and by what percentage the second differs: perf.data.old and perf.data, if no files are named.)");
    flags.boolean('f', "force", input_.force, "read the recordings even if another user owns them");
    flags.count('v', "verbose", input_.verbose,
                "print descriptions, instead of the counters' names");
  }
  [[nodiscard]] bool paged() const override { return true; }
  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() != 0 && arguments.size() != 2)
      return fail(ErrorCode::kUsage, "Error: expects two files to compare, not {}",
                  arguments.size());
    std::string old_path = arguments.empty() ? "perf.data.old" : arguments[0];
    std::string new_path = arguments.empty() ? "perf.data" : arguments[1];
    OpenOptions options = input_.open_options(env);
    Schedstat first = TRY(schedstat_of_file(old_path, options, env));
    Schedstat second = TRY(schedstat_of_file(new_path, options, env));
    if (first.version != second.version)
      return fail(ErrorCode::kFailed,
                  "{} has counters of version {}, {} of version {}: they cannot be compared",
                  old_path, first.version, new_path, second.version);
    write_schedstat_diff(env.out, first, second, {.descriptions = input_.verbose > 0});
    return 0;
  }

 private:
  RecordingInput input_;
};

class SchedStats final : public Command {
 public:
  explicit SchedStats(RecordingInput input) : input_(std::move(input)) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|report|diff} | [<command>]");
    flags.subcommands({"record", "report", "diff"});
    flags.stop_at_first_word();
    flags.description(
        R"(The scheduler's own counters (/proc/schedstat), before and after a command: how often it switched, balanced load and woke tasks up, and how long tasks ran and waited, per CPU and per scheduling domain. `record` saves them, `report` and `diff` show them; without a subcommand, they are shown as soon as the command ends. This does not slow down the load, and needs a kernel with CONFIG_SCHEDSTATS.)");
    flags.section("EXAMPLES", R"(  sonde sched stats record -- make -j8
  sonde sched stats report
  sonde sched stats diff before.data after.data
  sonde sched stats -- sleep 5)");
    view_.declare(flags);
    flags.count('v', "verbose", input_.verbose,
                "print descriptions, instead of the counters' names");
  }
  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty()) return nullptr;
    if (arguments[0] == "record") return std::make_unique<StatsRecord>();
    if (arguments[0] == "report") return std::make_unique<StatsReport>(input_);
    if (arguments[0] == "diff") return std::make_unique<StatsDiff>(input_);
    return nullptr;
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    SchedstatRun run = TRY(measure_schedstat(arguments.words, env));
    Schedstat counted = TRY(schedstat_between(run.before, run.after));
    write_schedstat(env.out, counted, view_.options(input_.verbose));
    return run.status;
  }

 private:
  RecordingInput input_;
  StatsView view_;
};

}  // namespace

std::unique_ptr<Command> make_sched_stats(RecordingInput input) {
  return std::make_unique<SchedStats>(std::move(input));
}

}  // namespace sonde
