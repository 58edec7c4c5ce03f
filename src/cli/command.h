// A subcommand: a folder src/cmd/NAME and one line in cmd/commands.def.
//
// NAME alone determines the folder, its file NAME.cc, the factory `make_NAME()` and the name on the
// command line (where underscores become dashes). The dispatcher (dispatch.h) calls, in this order:
//
//   configure   the user's perfconfig sets defaults in the command's options struct,
//   declare     the flags, each bound to a field of that struct; help, man page and completion come
//               from them,
//   [flags are parsed: fields are written, callbacks run in command-line order]
//   run         the work.
//
//   class Evlist final : public Command {
//     void declare(FlagTable& flags) override {
//       flags.usage("[<options>]");
//       flags.text('i', "input", options_.input, "file", "Input file name");
//       flags.boolean('F', "freq", options_.freq, "Show the sample frequency");
//     }
//     Result<int> run(Env& env, const Arguments& arguments) override { ... }
//     struct { std::string input = "perf.data"; bool freq = false; } options_;
//   };
//   std::unique_ptr<Command> make_evlist() { return std::make_unique<Evlist>(); }
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "cli/flags.h"

namespace sonde {

class Command {
 public:
  virtual ~Command() = default;

  /// Takes defaults from the user's perfconfig. An invalid value is an error.
  virtual Result<> configure(const Config& /*config*/) { return {}; }
  /// Declares usage lines, description and flags. Called once, before parsing.
  virtual void declare(FlagTable& flags) = 0;
  /// Whether long output goes through the user's pager when stdout is a terminal. Asked after
  /// parsing.
  [[nodiscard]] virtual bool paged() const { return false; }
  /// The command named by the first word (`stat record`), which has its own table of flags for the
  /// words after it; null if the words are this command's. It may refer to this one.
  virtual std::unique_ptr<Command> subcommand(const Arguments& /*arguments*/) { return nullptr; }
  /// Does the work and returns the exit status. The dispatcher prints an Error and knows its exit
  /// status: for kUsage it shows the usage after the message; kIo after a closed pipe is silent.
  virtual Result<int> run(Env& env, const Arguments& arguments) = 0;
};

/// One command of the program.
struct CommandInfo {
  std::string name;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
  bool hidden = false;  // a tool for our own tests: not in lists and help
};

using CommandList = std::span<const CommandInfo>;

/// nullptr if there is none.
[[nodiscard]] const CommandInfo* find_command(CommandList commands, std::string_view name);

}  // namespace sonde
