// sched: what the scheduler did with each task and each CPU.
#include "cmd/cmd_sched.h"

namespace sonde {

namespace {

class Sched final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|latency|map|replay|script|stats|timehist}");
    flags.subcommands({"record", "latency", "map", "replay", "script", "stats", "timehist"});
    flags.stop_at_first_word();
    flags.description(
        R"(Records what the scheduler does (`sched record`), and says how long tasks waited for a CPU (`latency`), what each CPU did and when (`map`), and for each stay of a task on a CPU how long it ran, and how long it had waited for what (`timehist`). `replay` makes the recorded load again; `script` prints the events themselves. `stats` shows what the scheduler itself counts.

The options here may also stand behind the subcommand.)");
    flags.section("EXAMPLES", R"(  sonde sched record -- make -j8
  sonde sched latency -s max
  sonde sched timehist -s
  sonde sched record -g -- sleep 1
  sonde sched timehist -Vw --state
  sonde sched map --compact)");
    input_.declare(flags);
  }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    constexpr size_t kShortest = 3;
    if (arguments.empty()) return nullptr;
    std::string_view word = arguments[0];
    auto is = [&](std::string_view name) {
      return word.size() >= kShortest && name.starts_with(word);
    };
    if (is("record")) return make_sched_record();
    if (is("latency")) return make_sched_latency(input_);
    if (is("map")) return make_sched_map(input_);
    if (is("replay")) return make_sched_replay(input_);
    if (is("script")) return make_sched_script(input_);
    if (is("stats")) return make_sched_stats(input_);
    if (is("timehist")) return make_sched_timehist(input_);
    return nullptr;
  }

  Result<int> run(Env& /*env*/, const Arguments& arguments) override {
    if (arguments.empty()) return fail(ErrorCode::kUsage, "");
    return fail(ErrorCode::kUsage, "Error: sched has no subcommand '{}'", arguments[0]);
  }

 private:
  RecordingInput input_;
};

}  // namespace

std::unique_ptr<Command> make_sched() {
  return std::make_unique<Sched>();
}

}  // namespace sonde
