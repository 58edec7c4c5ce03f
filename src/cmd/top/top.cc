// `top`: where time is spent right now, on a screen that is redrawn every few seconds.
#include <oneapi/tbb/global_control.h>

#include "base/process/own_command_line.h"
#include "cli/command.h"
#include "cmd/options/call_graph_option.h"
#include "cmd/options/listing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/top/flags.h"
#include "top/live.h"

namespace sonde {
namespace {

class TopCommand final : public Command {
 public:
  Result<> configure(const Config& config) override {
    o_.report.children = TRY(config.get_bool("top.children", o_.report.children));
    TRY(default_call_graph_.configure(config));
    if (!TRY(config.get_bool("tui.top", true))) o_.report.browser = false;
    return {};
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Samples the whole machine, or processes (-p), threads (-t), a user (-u), or some CPUs (-C), and shows every two seconds (-d) which functions the samples fell on. Rows fade: older samples count an eighth less on each screen. With -z, call graphs (-g) and --hierarchy, each screen shows only the samples since the previous one.

On a terminal it is report's browser on live data: h lists its keys, a shows a function's code, r makes a report of recent samples, w saves them as perf.data. With --stdio, and in a pipe, screens are printed as text, one after the other. Nothing is written to a file without w. Samples that the kernel had no room for are counted in the first line, and reported at the end.)");
    flags.section("EXAMPLES", R"(  sonde top
  sonde top -F 49 -ns comm,dso
  sonde top -e raw_syscalls:sys_enter -ns comm
  sonde top -g -p 1234 -d 5
  stdbuf -oL sonde top -e net:net_dev_xmit -ns comm | strings)");
    top::declare_flags(flags, o_);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "top starts no command: sonde record does");
    TRY(check_listing(o_.report.code));
    name_frame_functions(o_.report.symbol_sources, env);
    o_.selection.serve(o_.record.target, o_.report.verbose, env);
    o_.record.made = o_.selection.made();
    TRY(o_.selection.finalize({o_.record.events, o_.record.cgroups}, env));
    o_.record.target.user_later = true;
    o_.record.guests.files = o_.report.symbol_sources.guests;
    o_.record.command_line = own_command_line();
    if (!o_.record.target.has_task() && !o_.record.target.has_cpu())
      o_.record.target.all_cpus = true;
    TRY(default_call_graph_.settle(o_.record, "", nullptr, "top", env));
    std::optional<oneapi::tbb::global_control> limit;
    if (o_.synthesis_threads > 0)
      limit.emplace(oneapi::tbb::global_control::max_allowed_parallelism, o_.synthesis_threads);
    return top::run_top(o_, env);
  }

 private:
  top::TopOptions o_;
  CallGraphDefault default_call_graph_;
};

}  // namespace

std::unique_ptr<Command> make_top() {
  return std::make_unique<TopCommand>();
}

}  // namespace sonde
