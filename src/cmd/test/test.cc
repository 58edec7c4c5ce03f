// `test`: self-checks for the user's machine, and the workloads that they, and other suites,
// record.
#include "base/text.h"
#include "cli/command.h"
#include "selftest/run_checks.h"
#include "selftest/workloads/workload.h"

namespace sonde {
namespace {

class TestCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [{list <test-name-fragment>|[<test-name-fragments>|<test-numbers>]}]");
    flags.usage("-w <workload> [<arguments>]");
    flags.description(
        R"(Checks what works on this machine, and for this user: each check records, counts or traces a small program whose profile is known, and looks at the result. `test list` numbers them; `test 4 probes` runs number 4 and those with "probes" in their names. A check that cannot be done here is skipped, and -v says why. The status is 1 if one failed.

-w runs such a program (a workload) by itself: other suites record them. Their functions and threads have perf's names for them. -w list shows them all.)");
    flags.section("EXAMPLES", R"(  sonde test
  sonde test -v
  sonde test list
  sonde test -j results.xml
  sonde record -g -- sonde test -w leafloop 2)");
    flags.stop_at_first_word();
    flags.count('v', "verbose", options_.verbose,
                "say why checks are skipped; -vv: show the commands and what they print");
    flags.call('s', "skip", "tests", "checks to skip, by number or name",
               [this](std::string_view words) -> Result<> {
                 for (std::string_view word : split(words, ','))
                   options_.skipped.emplace_back(word);
                 return {};
               });
    constexpr const char* kAlwaysProcesses =
        "checks run commands of this program, which are processes in any case";
    flags
        .act('F', "dont-fork", std::string("no effect: ") + kAlwaysProcesses,
             [] { return Result<>(); })
        .on_negation([] {})
        .without_effect(kAlwaysProcesses);
    flags.text('j', "junit", options_.junit, "file", "also write the results as JUnit's XML");
    flags.text('w', "workload", workload_, "work",
               "run this workload, instead of the checks; list shows them all");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!workload_.empty()) return run_workload(env, arguments);
    bool lists = !arguments.empty() && arguments[0] == "list";
    options_.wanted.assign(arguments.words.begin() + (lists ? 1 : 0), arguments.words.end());
    if (!lists) return selftest::run_checks(options_, env);
    selftest::list_checks(options_, env.out);
    return 0;
  }

 private:
  Result<int> run_workload(Env& env, const Arguments& arguments) const {
    if (workload_ == "list") {
      for (const selftest::Workload& one : selftest::workloads())
        env.out.print("{:<20} {}\n", one.name, one.summary);
      return 0;
    }
    const selftest::Workload* workload = selftest::find_workload(workload_);
    if (workload == nullptr)
      return fail(ErrorCode::kFailed, "-w {}: there is no such workload; `test -w list` shows them",
                  workload_);
    return workload->run(arguments.words);
  }

  selftest::CheckOptions options_;
  std::string workload_;
};

}  // namespace

std::unique_ptr<Command> make_test() {
  return std::make_unique<TestCommand>();
}

}  // namespace sonde
