#include "cli/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/foreign/plain_name.h"
#include "base/sys.h"
#include "base/version.h"
#include "cli/completion/scripts.h"
#include "cmd/commands.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A command line run in this process, without user settings.
struct Ran {
  StringSink out, err;
  LossLedger losses;
  int status = -1;

  explicit Ran(std::vector<std::string> words,
               std::map<std::string, std::string, std::less<>> variables = {}) {
    variables.emplace("PERF_CONFIG_NOSYSTEM", "1");
    Env env{.out = out,
            .err = err,
            .sys = Sys::host(),
            .losses = losses,
            .variables = std::move(variables)};
    status = run_command_line(env, all_commands(), words);
  }
};

TEST(Dispatch, WithoutACommandListsThemAndFails) {
  Ran ran({"sonde"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out.text(), HasSubstr(" usage: sonde [--version]"));
  EXPECT_THAT(ran.out.text(), HasSubstr("\n   version "));
}

TEST(Dispatch, HelpListsThemAndSucceeds) {
  EXPECT_EQ(Ran({"sonde", "--help"}).status, 0);
  EXPECT_EQ(Ran({"sonde", "-h"}).status, 0);
  EXPECT_EQ(Ran({"sonde", "help"}).status, 0);
}

TEST(Dispatch, AnUnknownCommandIsStatusOneAndSuggestsNeighbours) {
  Ran ran({"/usr/bin/perf", "verzion"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err.text(),
              StartsWith("perf: 'verzion' is not a perf-command. See 'perf --help'.\n"));
  EXPECT_THAT(ran.err.text(), HasSubstr("\tversion\n"));
}

TEST(Dispatch, TheProgramsNameIsTheToolsName) {
  EXPECT_EQ(Ran({"./sonde", "version"}).out.text(),
            "sonde version " + std::string(sonde_version()) + "\n");
  EXPECT_THAT(Ran({"/usr/bin/perf", "--version"}).out.text(), StartsWith("perf version 6."));
  EXPECT_THAT(Ran({"perf-version", "--build-options"}).out.text(),
              HasSubstr("# HAVE_ZSTD_SUPPORT"));
}

TEST(Dispatch, GlobalOptionsStandBeforeTheCommand) {
  EXPECT_THAT(Ran({"sonde", "-vv"}).out.text(), HasSubstr("HAVE_LIBELF_SUPPORT"));
  EXPECT_EQ(Ran({"sonde", "--no-pager", "--debug", "verbose=3", "version"}).status, 0);
  EXPECT_THAT(Ran({"perf", "--list-opts"}).out.text(), StartsWith("--help --version --exec-path"));
  EXPECT_THAT(Ran({"perf", "--list-cmds"}).out.text(), HasSubstr("version "));
  Ran unknown({"perf", "-x"});
  EXPECT_EQ(unknown.status, 129);
  EXPECT_EQ(unknown.err.text(),
            "Unknown option: -x\n\n Usage: perf [--version] [--help] [OPTIONS] COMMAND [ARGS]\n");
  Ran without({"perf", "--buildid-dir"});
  EXPECT_EQ(without.status, 129);
  EXPECT_THAT(without.err.text(), StartsWith("No directory given for --buildid-dir.\n"));
  Ran bad_debug({"perf", "--debug", "foo=1", "version"});
  EXPECT_EQ(bad_debug.status, 129);
  EXPECT_THAT(bad_debug.err.text(), StartsWith("Unknown option name 'foo'\n"));
}

TEST(Dispatch, UsageIsStatus129OnStandardError) {
  Ran help({"perf", "version", "-h"});
  EXPECT_EQ(help.status, 129);
  EXPECT_EQ(help.out.text(), "");
  EXPECT_THAT(help.err.text(), StartsWith("\n Usage: perf version [<options>]\n"));
  Ran unknown({"perf", "version", "-Q"});
  EXPECT_EQ(unknown.status, 129);
  EXPECT_THAT(unknown.err.text(),
              StartsWith("  Error: unknown switch `Q'\n\n Usage: perf version"));
}

TEST(Dispatch, UsageOfAnAbbreviatedSubcommandHasItsName) {
  EXPECT_THAT(Ran({"sonde", "kvm", "sta", "rep", "-Q"}).err.text(),
              HasSubstr("See 'sonde kvm stat report -h'."));
  EXPECT_THAT(Ran({"perf", "kvm", "sta", "rep", "-Q"}).err.text(),
              HasSubstr("Usage: perf kvm stat report "));
}

TEST(Dispatch, ManualAndListsComeFromTheFlagTable) {
  EXPECT_THAT(Ran({"sonde", "version", "--help"}).out.text(), HasSubstr("--build-options"));
  EXPECT_THAT(Ran({"sonde", "help", "version"}).out.text(),
              StartsWith("NAME\n       sonde-version - "));
  EXPECT_THAT(Ran({"sonde", "help", "--troff", "version"}).out.text(),
              StartsWith(".TH \"SONDE-VERSION\" 1"));
  EXPECT_THAT(Ran({"sonde", "version", "--list-opts"}).out.text(), StartsWith("--build-options "));
  EXPECT_EQ(Ran({"sonde", "timeline", "--list-opts=--to"}).out.text(), "svg json folded \n");
  EXPECT_THAT(Ran({"sonde", "export", "--list-opts=to"}).out.text(), HasSubstr("pprof "));
  EXPECT_EQ(Ran({"sonde", "export", "--list-opts=nothing"}).out.text(), "\n");
  EXPECT_EQ(Ran({"sonde", "help", "nothing"}).status, 255);
  EXPECT_THAT(Ran({"sonde", "help", "config"}).out.text(),
              HasSubstr("EXAMPLES\n         sonde config report"));
}

/// Whether an option's text says that it changes nothing.
bool admits_no_effect(const std::string& help) {
  constexpr std::string_view kWords[] = {"no effect:", "(not needed", "(they always are)",
                                         "(none is read)", "(none are counted"};
  return std::ranges::any_of(
      kWords, [&](std::string_view words) { return help.find(words) != std::string::npos; });
}

/// No option is taken and ignored without a word: those that change nothing say so in their help,
/// and are listed as such (docs/perf-parity.md).
void check_options(const std::string& name, Command& command) {
  FlagTable flags;
  command.declare(flags);
  for (const Flag& flag : flags.flags())
    EXPECT_EQ(admits_no_effect(flag.help), !flag.no_effect.empty())
        << name << " -" << (flag.letter == 0 ? '-' : flag.letter) << flag.name << ": " << flag.help;
  for (const std::string& word : flags.subcommands()) {
    Arguments arguments;
    arguments.words = {word};
    if (std::unique_ptr<Command> inner = command.subcommand(arguments))
      check_options(name + " " + word, *inner);
  }
}

TEST(Options, ThoseWithoutEffectSaySo) {
  for (const CommandInfo& info : all_commands())
    if (!info.hidden) check_options(info.name, *info.make());
}

/// What an option takes is a word or the words to choose from, not a sentence about it.
TEST(Options, ArgumentsAreNoSentences) {
  for (const auto& [command, option] :
       {std::pair{"c2c", "display"}, std::pair{"diff", "compute"}}) {
    FlagTable flags;
    std::unique_ptr<Command> made = find_command(all_commands(), command)->make();
    Arguments report;
    report.words = {"report"};
    std::unique_ptr<Command> inner = made->subcommand(report);
    (inner ? *inner : *made).declare(flags);
    for (const Flag& flag : flags.flags()) {
      if (flag.name != option) continue;
      EXPECT_EQ(flag.argument.find(' '), std::string::npos) << command;
    }
  }
}

TEST(Completion, EvaluatesNothingThatAProgramPrints) {
  for (std::string shell : {"bash", "zsh", "fish"}) {
    std::string script = Ran({"sonde", "help", "--completion", shell}).out.text();
    ASSERT_THAT(script, HasSubstr("--raw-dump"));
    // compgen -W, `eval` and zsh's ${=…} expand; unquoted $(…) in a list of words is split and
    // globbed.
    for (const char* evaluates : {"compgen", "eval ", "${=", "${~", "($("})
      EXPECT_THAT(script, Not(HasSubstr(evaluates))) << shell;
  }
}

TEST(Completion, OffersOnlyWordsThatMeanNothingToAShell) {
  // zsh and fish evaluate the lists that are written into their scripts.
  for_each_command_table(all_commands(), [](const std::vector<std::string>& words,
                                            const CommandInfo&, const FlagTable& flags) {
    for (const std::string& word : words) EXPECT_TRUE(is_completion_word(word)) << word;
    for (const std::string& word : flags.subcommands())
      EXPECT_TRUE(is_completion_word(word)) << word;
    for (const Flag& flag : flags.flags()) {
      EXPECT_TRUE(flag.name.empty() || is_completion_word(flag.name)) << flag.name;
      for (const std::string& value : flag.values)
        EXPECT_TRUE(is_completion_word(value)) << words[0] << " --" << flag.name << ": " << value;
    }
  });
}

TEST(Dispatch, BashAcceptsTheCompletionScript) {
  std::string script = Ran({"perf", "help", "--completion", "bash"}).out.text();
  EXPECT_THAT(script, HasSubstr("complete -o bashdefault -o default -F _perf perf\n"));
  // Bash may complain and still exit with status 0.
  FILE* bash = ::popen("test -z \"$(bash -n 2>&1)\"", "w");
  ASSERT_NE(bash, nullptr);
  std::fputs(script.c_str(), bash);
  EXPECT_EQ(::pclose(bash), 0);
}

}  // namespace
}  // namespace sonde
