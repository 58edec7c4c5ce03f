// help: the commands, and the manual page of each; also the source of manual pages and completion
// scripts, for packagers.
#include "cli/command.h"
#include "cli/completion/completion.h"
#include "cli/manual.h"
#include "cli/refused_options.h"
#include "cmd/commands.h"

namespace sonde {
namespace {

constexpr RefusedOption kHelpRefuses[] = {
    {'i', "info", nullptr, "refused: there are no info pages",
     "there are no info pages; without the option, the manual page is shown"},
    {'w', "web", nullptr, "refused: there are no web pages",
     "there are no web pages; without the option, the manual page is shown"},
};

class Help final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[--all] [--man] [command]");
    flags.description(
        "Without a command, lists all commands. With one, shows its manual page, which is made "
        "from the option table that also parses the command line.");
    flags.boolean('a', "all", all_, "list all commands");
    flags.boolean('m', "man", man_, "show the manual page (the default)");
    declare_refused(flags, kHelpRefuses);
    flags.boolean(0, "troff", troff_, "print the manual page's source, to install it");
    flags
        .text(0, "completion", completion_, "shell",
              "print the completion script of a shell: bash, zsh or fish")
        .offers({"bash", "zsh", "fish"});
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (completion_) {
      env.out.write_lines(TRY(completion_script(*completion_, env.tool, all_commands())));
      return 0;
    }
    bool lists = all_ || (arguments.empty() && !troff_ && !man_);
    if (lists) {
      print_command_list(env.out, all_commands(), env.tool);
      return 0;
    }
    Manual manual = TRY(find_manual(env, arguments));
    if (troff_)
      env.out.write_lines(manual_as_troff(manual));
    else
      show_manual_page(env, manual);
    return 0;
  }

 private:
  static Result<Manual> find_manual(const Env& env, const Arguments& arguments) {
    if (arguments.empty() || arguments[0] == env.tool)
      return manual_of_tool(env.tool, all_commands());
    const CommandInfo* info = find_command(all_commands(), arguments[0]);
    if (!info)
      return fail(ErrorCode::kNotFound,
                  "No manual entry for {0}-{1}: see '{0} help' for the commands", env.tool,
                  arguments[0]);
    std::unique_ptr<Command> command = info->make();
    FlagTable flags;
    command->declare(flags);
    return manual_of(env.tool, *info, flags);
  }

  bool all_ = false;
  bool man_ = false;
  bool troff_ = false;
  std::optional<std::string> completion_;
};

}  // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<Help>();
}

}  // namespace sonde
