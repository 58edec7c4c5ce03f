// `check`: whether a feature is built in, for scripts.
#include <algorithm>

#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cmd/version/features.h"

namespace sonde {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_ascii_lower, to_ascii_lower);
}

const Feature* find_feature(std::string_view name) {
  auto found = std::ranges::find_if(all_features(), [&](const Feature& feature) {
    return equal_ignoring_case(feature.name, name) || equal_ignoring_case(feature.macro, name);
  });
  return found == all_features().end() ? nullptr : &*found;
}

class CheckFeature final : public Command {
 public:
  explicit CheckFeature(bool quiet) : quiet_(quiet) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] <feature>[,<feature>...]");
    flags.description(
        "Shows for each feature whether it is built in. The names are those of `version "
        "--build-options`, or the macros there. The status is 0 if all are, and 1 if one is not, "
        "or is not known.");
    flags.boolean('q', "quiet", quiet_, "print nothing: the exit status tells");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.empty()) return fail(ErrorCode::kUsage, "check feature: no feature was named");
    if (arguments.size() > 1)
      return fail(ErrorCode::kUsage,
                  "'{}' is one word too many: several features are separated by commas",
                  arguments[1]);
    bool all_on = true;
    for (std::string_view name : split(arguments[0], ',')) {
      const Feature* feature = find_feature(name);
      if (feature == nullptr)
        env.err.print("Unknown feature '{}', `{} version --build-options` lists them\n", name,
                      env.tool);
      else if (!quiet_)
        env.out.write(feature_line(*feature));
      all_on &= feature != nullptr && feature->is_on();
    }
    return all_on ? 0 : 1;
  }

 private:
  bool quiet_;
};

class CheckVersion final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("");
    flags.description("Shows the version, like `version`.");
  }
  Result<int> run(Env& env, const Arguments& /*arguments*/) override {
    env.out.print("{} version {}\n", env.tool, version_under_name(env.tool));
    return 0;
  }
};

class Check final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {feature <feature_list>|version}");
    flags.description("Shows whether features are built in, for scripts that depend on them.");
    flags.subcommands({"feature", "version"});
    flags.boolean('q', "quiet", quiet_, "print nothing: the exit status tells");
  }
  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty()) return nullptr;
    if (std::string_view("feature").starts_with(arguments[0]))
      return std::make_unique<CheckFeature>(quiet_);
    if (std::string_view("version").starts_with(arguments[0]))
      return std::make_unique<CheckVersion>();
    return nullptr;
  }
  Result<int> run(Env& /*env*/, const Arguments& arguments) override {
    if (arguments.empty()) return fail(ErrorCode::kUsage, "check: `feature` or `version`");
    return fail(ErrorCode::kUsage, "'{}' is neither `feature` nor `version`", arguments[0]);
  }

 private:
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_check() {
  return std::make_unique<Check>();
}

}  // namespace sonde
