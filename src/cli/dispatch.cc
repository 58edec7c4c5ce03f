#include "cli/dispatch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <variant>

#include "base/file.h"
#include "base/memory_shortage.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/config_files.h"
#include "cli/flag_parser.h"
#include "cli/global_options.h"
#include "cli/manual.h"
#include "cli/pager.h"
#include "cli/usage.h"

namespace sonde {
namespace {

constexpr std::string_view kPerf = "perf";
constexpr int kClosedPipeStatus = 128 + 13;  // as if SIGPIPE had killed it

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

Result<> load_config(Env& env) {
  for (const std::string& path : config_files(env)) {
    Result<std::string> text = read_file(path);
    if (text)
      TRY(env.config.parse(*text, path));
    else if (text.error().code == ErrorCode::kCorrupt)  // most people have none
      return std::unexpected(std::move(text).error());
  }
  return {};
}

/// One command with its table of flags, from parsing to its exit status.
class Invocation {
 public:
  Invocation(Env& env, const CommandInfo& info, GlobalOptions::Paging paging)
      : Invocation(env, info, paging, info.make()) {}
  Invocation(Env& env, const CommandInfo& info, GlobalOptions::Paging paging,
             std::unique_ptr<Command> command)
      : env_(env), info_(info), paging_(paging), pager_(env), command_(std::move(command)) {}

  int run(std::span<const std::string> words) {
    if (Result<> configured = command_->configure(env_.config); !configured)
      return report(configured.error());
    command_->declare(flags_);
    int status = std::visit(Overloaded{
                                [&](const Arguments& arguments) { return execute(arguments); },
                                [&](const HelpWanted& help) { return show_help(help); },
                                [&](ManWanted) { return show_manual(); },
                                [&](const ListFlagsWanted& list) { return list_flags(list.name); },
                                [&](ListCommandsWanted) { return list_subcommands(); },
                                [&](const BadFlags& bad) { return refuse(bad); },
                                [&](const Error& error) { return report(error); },
                            },
                            outcome_ = parse_flags(flags_, words));
    return status;
  }

 private:
  int execute(const Arguments& arguments) {
    if (std::unique_ptr<Command> inner = command_->subcommand(arguments)) {
      CommandInfo info{info_.name + " " + full_name(arguments[0]), info_.summary, nullptr};
      return Invocation(env_, info, paging_, std::move(inner))
          .run(std::span<const std::string>(arguments.words).subspan(1));
    }
    if (wants_pager()) pager_.start();
    Result<int> status = command_->run(env_, arguments);
    return status ? *status : report(status.error());
  }

  /// The full name of a subcommand, of which any prefix is enough.
  std::string full_name(const std::string& word) const {
    for (const std::string& name : flags_.subcommands())
      if (name.starts_with(word)) return name;
    return word;
  }

  bool wants_pager() const {
    if (!env_.out.is_terminal() || paging_ == GlobalOptions::Paging::kNever) return false;
    if (paging_ == GlobalOptions::Paging::kAlways) return true;
    return command_->paged() && env_.config.get_bool("pager." + info_.name, true).value_or(true);
  }

  int show_help(const HelpWanted& help) {
    bool terminal = env_.out.is_terminal();
    if (terminal && paging_ != GlobalOptions::Paging::kNever) pager_.start();
    print_usage(terminal ? env_.out : env_.err, env_.tool, info_.name, flags_, help.words);
    return exit_status(ErrorCode::kUsage);
  }

  int show_manual() {
    show_manual_page(env_, manual_of(env_.tool, info_, flags_));
    return 0;
  }

  /// Lists all flags, or the values of one.
  int list_flags(std::string_view of) {
    for (const Flag& flag : flags_.flags()) {
      if (of.empty() && !flag.name.empty()) env_.out.print("--{} ", flag.name);
      if (!of.empty() && flag.name == of)
        for (const std::string& value : flag.values) env_.out.print("{} ", value);
    }
    env_.out.put('\n');
    return 0;
  }

  int list_subcommands() {
    for (const std::string& name : flags_.subcommands()) env_.out.print("{} ", name);
    env_.out.put('\n');
    return 0;
  }

  int refuse(const BadFlags& bad) {
    if (env_.tool != kPerf) return say_in_short(bad.message, bad.hint, bad.about);
    env_.err.write_lines(bad.message);
    if (bad.show_usage && bad.about.empty()) print_usage(env_.err, env_.tool, info_.name, flags_);
    if (bad.show_usage && !bad.about.empty())
      print_usage_of(env_.err, env_.tool, info_.name, flags_, bad.about);
    return exit_status(ErrorCode::kUsage);
  }

  int report(const Error& error) {
    // Output first, so that the message comes after it.
    env_.out.flush();
    if (error.code == ErrorCode::kIo && env_.out.failed() == EPIPE) return kClosedPipeStatus;
    bool is_usage = error.code == ErrorCode::kUsage;
    if (is_usage && !error.message.empty() && env_.tool != kPerf)
      return say_in_short(error.message, "", {});
    if (!error.message.empty()) env_.err.write_lines(named_for(env_.tool, error.message) + '\n');
    if (is_usage) print_usage(env_.err, env_.tool, info_.name, flags_);
    return exit_status(error.code);
  }

  /// What is wrong, what may have been meant, and where to read on. Under perf's name the whole
  /// usage follows instead, as scripts expect it.
  int say_in_short(std::string_view message, std::string_view hint,
                   const std::vector<const Flag*>& about) {
    for (std::string_view lead : {" ", "Error: ", "error: "}) {
      message.remove_prefix(std::min(message.find_first_not_of(' '), message.size()));
      if (message.starts_with(lead)) message.remove_prefix(lead.size());
    }
    while (message.ends_with('\n')) message.remove_suffix(1);
    std::string words;
    for (const Flag* flag : about)
      words += flag->name.empty() ? fmt::format(" -{}", flag->letter) : " --" + flag->name;
    env_.err.write_lines(fmt::format("{} {}: {}\n", env_.tool, info_.name, message));
    if (!hint.empty()) env_.err.print("{}\n", hint);
    env_.err.print("See '{} {} -h{}'.\n", env_.tool, info_.name, words);
    return exit_status(ErrorCode::kUsage);
  }

  Env& env_;
  const CommandInfo& info_;
  GlobalOptions::Paging paging_;
  Pager pager_;
  std::unique_ptr<Command> command_;
  FlagTable flags_;
  ParseOutcome outcome_;
};

/// Law 2: reports what the input lost, one line per kind. Returns the status of a command that
/// otherwise succeeded.
int show_losses(Env& env, int status) {
  for (const LossLedger::Entry& entry : env.losses.entries()) {
    // Of what a command that failed would have shown.
    if (status != 0 && entry.kind == LossKind::k_nameless_functions) continue;
    env.err.print("{}: {}\n", env.tool, LossLedger::text(entry));
  }
  if (!env.losses.lost_too_much()) return 0;
  env.err.print("{}: {}, more than a tenth: the exit status is 1\n", env.tool,
                env.losses.damage_summary());
  return 1;
}

int finish_output(Env& env, int status) {
  env.out.flush();
  int error = env.out.failed();
  if (error == EPIPE) {
    env.err.flush();
    return kClosedPipeStatus;
  }
  int loss_status = show_losses(env, status);
  if (status == 0) status = loss_status;
  if (error != 0) {
    env.err.print("{}: cannot write to standard output: {}\n", env.tool, std::strerror(error));
    status = exit_status(ErrorCode::kIo);
  }
  env.err.flush();
  return status;
}

/// Sets the tool's name to `perf` for /usr/bin/perf; returns the command for names such as
/// perf-report and trace.
std::vector<std::string> command_from_program_name(Env& env, CommandList commands,
                                                   std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "trace") return {"trace"};
  if (name == "perf" || name.starts_with("perf-")) env.tool = kPerf;
  size_t dash = name.find('-');
  if (dash != std::string_view::npos && find_command(commands, name.substr(dash + 1)))
    return {std::string(name.substr(dash + 1))};
  return {};
}

int unknown_command(Env& env, CommandList commands, std::string_view name) {
  env.err.print("{0}: '{1}' is not a {0}-command. See '{0} --help'.\n", env.tool, name);
  for (const CommandInfo& info : commands)
    if (!info.hidden && edit_distance(info.name, name) <= 2)
      env.err.print("\nDid you mean this?\n\t{}\n", info.name);
  return 1;
}

int choose_and_run(Env& env, CommandList commands, std::span<const std::string> words) {
  std::vector<std::string> command =
      command_from_program_name(env, commands, words.empty() ? "" : words[0]);
  std::span<const std::string> rest = words.empty() ? words : words.subspan(1);
  GlobalOptions globals;
  if (command.empty()) {
    globals = read_global_options(env, commands, rest);
    if (globals.done) return *globals.done;
    rest = rest.subspan(globals.used);
    command = std::move(globals.command_instead);
    bool nothing_asked = command.empty() && rest.empty();
    if (nothing_asked) {
      print_command_list(env.out, commands, env.tool);
      return 1;
    }
    if (command.empty()) {
      command.push_back(rest[0]);
      rest = rest.subspan(1);
    }
  }
  command.insert(command.end(), rest.begin(), rest.end());
  const CommandInfo* info = find_command(commands, command[0]);
  if (!info) return unknown_command(env, commands, command[0]);
  if (Result<> loaded = load_config(env); !loaded) {
    env.err.write_lines(loaded.error().message + '\n');
    return exit_status(loaded.error().code);
  }
  return Invocation(env, *info, globals.paging)
      .run(std::span<const std::string>(command).subspan(1));
}

}  // namespace

int run_command_line(Env& env, CommandList commands, std::span<const std::string> words) {
  std::vector<std::string> shown(words.begin(), words.end());
  env.command_line = join(shown, " ");
  Result<int> status =
      within_memory(words.size() > 1 ? "'" + words[1] + "'" : "",
                    [&]() -> Result<int> { return choose_and_run(env, commands, words); });
  if (status) return finish_output(env, *status);
  // What the command held is free again.
  env.out.flush();
  env.err.print("{}: {}\n", env.tool, status.error().message);
  return finish_output(env, exit_status(status.error().code));
}

}  // namespace sonde
