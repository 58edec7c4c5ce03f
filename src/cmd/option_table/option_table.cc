// option-table: what every command takes, a line per option; docs/perf-parity.md is made of it.
#include "cli/command.h"
#include "cmd/commands.h"

namespace sonde {
namespace {

/// COMMAND, -LETTER, --NAME, "works", "no effect" or "refused", and the reason of the latter two,
/// separated by tabs; for subcommands, too.
void list(Env& env, const std::string& name, Command& command) {
  FlagTable flags;
  command.declare(flags);
  for (const Flag& flag : flags.flags())
    env.out.print("{}\t{}\t{}\t{}\t{}{}\n", name,
                  flag.letter == 0 ? "" : fmt::format("-{}", flag.letter),
                  flag.name.empty() ? "" : "--" + flag.name,
                  !flag.refusal.empty()     ? "refused"
                  : !flag.no_effect.empty() ? "no effect"
                                            : "works",
                  flag.refusal, flag.no_effect);
  for (const std::string& word : flags.subcommands()) {
    Arguments arguments;
    arguments.words = {word};
    if (std::unique_ptr<Command> inner = command.subcommand(arguments))
      list(env, name + " " + word, *inner);
    else
      env.out.print("{} {}\t\t\tworks\t\n", name, word);
  }
}

class OptionTable final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("");
    flags.description("Lists every option of every command, a line each.");
  }

  Result<int> run(Env& env, const Arguments& /*arguments*/) override {
    for (const CommandInfo& info : all_commands()) {
      if (info.hidden) continue;
      list(env, info.name, *info.make());
    }
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> make_option_table() {
  return std::make_unique<OptionTable>();
}

}  // namespace sonde
