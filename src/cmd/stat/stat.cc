// stat: runs a command, or watches what is already running, and reports how often things happened.
#include "cli/command.h"
#include "cmd/stat/flags.h"
#include "cmd/stat/report.h"
#include "stat/run.h"

namespace sonde {
namespace {

/// `stat record`: takes the same flags, before and after the word.
class StatRecord final : public Command {
 public:
  explicit StatRecord(StatFlags& flags) : flags_(flags) {}
  void declare(FlagTable& flags) override {
    flags_.declare(flags);
    flags.description("Counts as `stat` does, and writes the counts to perf.data (-o).");
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    return run_stat(TRY(flags_.finalize(env, arguments, true)), true, env);
  }

 private:
  StatFlags& flags_;
};

class Stat final : public Command {
 public:
  Result<> configure(const Config& config) override { return flags_.configure(config); }

  void declare(FlagTable& flags) override {
    flags_.declare(flags);
    flags.subcommands({"record", "report"});
    flags.description(
        R"(Runs a command and counts what happens while it runs: CPU time, context switches, page faults, instructions and any other event given with -e. Without a command, counts on the whole machine, in processes (-p) or threads (-t) until Ctrl-C.

Counts go to standard error, or to the target of -o or --log-fd. Metrics computed from several counts (instructions per cycle, miss rates, CPUs utilized) are shown after the `#`. A count that had to share its hardware counter with others is scaled to the whole time; the share of the time that it ran is shown in parentheses. `<not supported>` marks an event that this machine does not have, `<not counted>` one that never ran.

`--vs` and `--compare` tell whether the command is better or worse than another one, or than it was before: both are run in turn, and nothing is claimed that the numbers do not support. `--gate` limits how much worse metrics may get, for scripts; the exit status is 193 if a limit is exceeded.

The exit status is that of the command, or 128 plus the number of the signal that ended it.

`stat record` writes the counts to perf.data, `stat report` shows such a file, aggregated differently if asked.)");
    flags.section("EXAMPLES", R"(  sonde stat -- make -j8
  sonde stat -r 10 -e task-clock,page-faults -- ./program
  sonde stat -a -A -I 1000 -e context-switches,cpu-migrations
  sonde stat -x, -o counts.csv -e 'syscalls:sys_enter_*' -- ./program
  sonde stat --vs ./old --gate 'task-clock>2%' -- ./new
  sonde stat --save before.json -- ./program
  sonde stat --compare before.json -- ./program
  sonde stat record -a -I 100 -- sleep 10
  sonde stat report --per-core)");
  }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    constexpr size_t kMin = 3;
    if (arguments.empty() || arguments.after_dashes || arguments[0].size() < kMin) return nullptr;
    std::string_view word = arguments[0];
    if (std::string_view("record").starts_with(word)) return std::make_unique<StatRecord>(flags_);
    if (std::string_view("report").starts_with(word)) return make_stat_report(flags_.as_given());
    return nullptr;
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    return run_stat(TRY(flags_.finalize(env, arguments, false)), false, env);
  }

 private:
  StatFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_stat() {
  return std::make_unique<Stat>();
}

}  // namespace sonde
