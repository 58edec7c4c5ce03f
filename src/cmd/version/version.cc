// version: the version, and what is built in.
#include "base/version.h"
#include "cli/command.h"
#include "cmd/version/features.h"

namespace sonde {
namespace {

class Version final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        "Shows the version. With --build-options, also what is built in, one feature per line, "
        "under the names that perf gives them.");
    flags.boolean(0, "build-options", build_options_, "also list what is built in");
    flags.count('v', "verbose", verbosity_, "same as --build-options").hidden();
  }

  Result<int> run(Env& env, const Arguments& /*arguments*/) override {
    env.out.print("{} version {}\n", env.tool, version_under_name(env.tool));
    if (!build_options_ && verbosity_ == 0) return 0;
    for (const Feature& feature : all_features()) env.out.write(feature_line(feature));
    return 0;
  }

 private:
  bool build_options_ = false;
  int verbosity_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_version() {
  return std::make_unique<Version>();
}

}  // namespace sonde
