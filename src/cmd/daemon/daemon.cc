// daemon: recordings in the background, as configured.
#include <csignal>

#include "cli/command_family.h"
#include "cli/config_files.h"
#include "daemon/start.h"

namespace sonde {
namespace {

/// The options that may precede or follow the subcommand.
struct CommonOptions {
  DaemonOptions daemon;
  std::string config;
  char separator = 0;

  void declare(FlagTable& flags) {
    flags.boolean('v', "verbose", daemon.verbose,
                  "also show paths, and in the list how long each session has run");
    flags.text(0, "config", config, "config file", "configuration to use, instead of the user's");
    flags.text(0, "base", daemon.base, "directory",
               "directory in which sessions have theirs, instead of daemon.base");
  }
  /// `daemon.config_files` is known after this.
  Result<> check(const Env& env, const Arguments& arguments) {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "Error: unexpected argument '{}'", arguments[0]);
    daemon.config_files = config.empty() ? config_files(env) : std::vector{config};
    return {};
  }
  [[nodiscard]] Result<> check_no_separator() const {
    if (separator == 0) return {};
    return fail(ErrorCode::kUsage, "Error: -x applies to the list of sessions; leave it out here");
  }
};

class Start final : public Command {
 public:
  explicit Start(CommonOptions& common) : common_(common) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        "Starts the daemon and its sessions, and returns once they record. A session that fails at "
        "once is named; the others go on.");
    flags.boolean('f', "foreground", common_.daemon.foreground,
                  "go on in the foreground, on the terminal");
    common_.declare(flags);
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(common_.check_no_separator());
    TRY(common_.check(env, arguments));
    return start_daemon(common_.daemon, env);
  }

 private:
  CommonOptions& common_;
};

/// stop, signal and ping.
class Request final : public Command {
 public:
  Request(CommonOptions& common, DaemonRequest::Kind kind, std::string_view text)
      : common_(common), text_(text) {
    request_.kind = kind;
    request_.signal = SIGUSR2;
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(text_);
    if (request_.kind != DaemonRequest::Kind::kStop)
      flags.text(0, "session", request_.session, "session", "only this session (default: all)");
    common_.declare(flags);
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(common_.check_no_separator());
    TRY(common_.check(env, arguments));
    return ask_daemon(common_.daemon, request_, env);
  }

 private:
  CommonOptions& common_;
  std::string_view text_;
  DaemonRequest request_;
};

class Daemon final : public CommandFamily {
 public:
  Daemon() : CommandFamily("daemon") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.usage("{start|stop|signal|ping} [<options>]");
    declare_members(flags);
    flags.description(
        R"(Runs recordings in the background. `start` starts a process that runs one `record` per session of the configuration, each in a directory of its own; `stop` ends them and it; `signal` sends SIGUSR2 to the recordings, which makes those with --switch-output write what they have; `ping` shows whether they answer. Without a word, lists the daemon and its sessions.

The configuration is a perfconfig file: the one given by --config, or the user's. While the daemon runs, it follows changes of that file: new sessions start, removed ones end, changed ones start anew.

perf's daemon and this one understand each other's requests.)");
    flags.section("EXAMPLES", R"(  [daemon]
  base = /var/lib/profiles

  [session-cycles]
  run = -m 10M -e cycles --overwrite --switch-output -a

  sonde daemon start
  sonde daemon -v
  sonde daemon signal --session cycles
  sonde daemon stop)");
    common_.declare(flags);
    flags
        .call('x', "field-separator", "character",
              "print the list's fields with this between them (,)",
              [this](std::string_view value) -> Result<> {
                if (value.size() != 1) return fail(ErrorCode::kUsage, "expects one character");
                common_.separator = value[0];
                return {};
              })
        .when_bare(",");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty()) return CommandFamily::run(env, arguments);
    TRY(common_.check(env, arguments));
    return ask_daemon(common_.daemon,
                      {.verbose = common_.daemon.verbose, .separator = common_.separator}, env);
  }

 private:
  using Kind = DaemonRequest::Kind;
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    auto request = [this](Kind kind, std::string_view text) {
      return [this, kind, text] { return std::make_unique<Request>(common_, kind, text); };
    };
    return {{"start", [this] { return std::make_unique<Start>(common_); }},
            {"stop", request(Kind::kStop, "Ends the sessions and the daemon, and waits for that.")},
            {"signal", request(Kind::kSignal, "Sends SIGUSR2 to the sessions' recordings.")},
            {"ping", request(Kind::kPing,
                             "Shows whether the sessions' recordings answer. The status "
                             "is 1 if one does not.")}};
  }

  mutable CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_daemon() {
  return std::make_unique<Daemon>();
}

}  // namespace sonde
