// iostat: `stat --iostat` under the name that perf has for it.
#include "cli/command.h"
#include "cmd/stat/flags.h"
#include "stat/run.h"

namespace sonde {
namespace {

constexpr std::string_view kText =
    R"(Shows, for each PCIe root port, how much devices read from and wrote to the host's memory (inbound), and how much CPUs read from and wrote to devices (outbound), in MB, while the command runs; without a command, until Ctrl-C. `list` shows the root ports. A list of root ports selects some.

This needs an Intel server with uncore_iio PMUs, and the right to count on whole CPUs. All options of `stat` that do not choose events or tasks may be given: -I for intervals, -x for separated fields, -r, -o …)";

/// What follows the root ports.
class Measurement final : public Command {
 public:
  explicit Measurement(StatFlags& flags) : flags_(flags) {}
  void declare(FlagTable& flags) override {
    flags_.declare(flags);
    flags.description(kText);
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    return run_stat(TRY(flags_.finalize(env, arguments, false)), false, env);
  }

 private:
  StatFlags& flags_;
};

class Iostat final : public Command {
 public:
  Result<> configure(const Config& config) override { return flags_.configure(config); }

  void declare(FlagTable& flags) override {
    flags.usage("list");
    flags.usage("[<ports>] [<options>] [-- <command> [<options>]]");
    flags_.declare(flags);
    flags.subcommands({"list"});
    flags.description(kText);
    flags.section("EXAMPLES", R"(  sonde iostat list
  sonde iostat -- dd if=/dev/zero of=/dev/nvme0n1 bs=1M oflag=direct
  sonde iostat 0000:17,0:3a -I 1000)");
    flags_.measure_root_ports("");
  }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty() || arguments.after_dashes) return nullptr;
    if (arguments[0] != "list" && !names_root_ports(arguments[0])) return nullptr;
    flags_.measure_root_ports(arguments[0]);
    return std::make_unique<Measurement>(flags_);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    return run_stat(TRY(flags_.finalize(env, arguments, false)), false, env);
  }

 private:
  StatFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_iostat() {
  return std::make_unique<Iostat>();
}

}  // namespace sonde
