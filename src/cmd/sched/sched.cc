// sched: what the scheduler did with each task and each CPU.
#include "cmd/sched/sched.h"
#include "cli/command_family.h"

namespace sonde {

namespace {

class Sched final : public CommandFamily {
 public:
  Sched() : CommandFamily("sched") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|latency|map|replay|script|stats|timehist}");
    declare_members(flags);
    flags.description(
        R"(Records what the scheduler does (`sched record`), and shows how long tasks waited for a CPU (`latency`), what each CPU did and when (`map`), and for each stay of a task on a CPU how long it ran, and how long it had waited for what (`timehist`). `replay` reproduces the recorded load; `script` prints the events themselves. `stats` shows the scheduler's own counters.

The options here may also follow the subcommand.)");
    flags.section("EXAMPLES", R"(  sonde sched record -- make -j8
  sonde sched latency -s max
  sonde sched timehist -s
  sonde sched record -g -- sleep 1
  sonde sched timehist -Vw --state
  sonde sched map --compact)");
    input_.declare(flags);
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"record", [] { return make_sched_record(); }},
            {"latency", [this] { return make_sched_latency(input_); }},
            {"map", [this] { return make_sched_map(input_); }},
            {"replay", [this] { return make_sched_replay(input_); }},
            {"script", [this] { return make_sched_script(input_); }},
            {"stats", [this] { return make_sched_stats(input_); }},
            {"timehist", [this] { return make_sched_timehist(input_); }}};
  }

  RecordingInput input_;
};

}  // namespace

std::unique_ptr<Command> make_sched() {
  return std::make_unique<Sched>();
}

}  // namespace sonde
