// `histogram`: values of events, and times between them, added up in the kernel or from a
// recording.
#include "cli/command.h"
#include "cmd/histogram/flags.h"
#include "histogram/run.h"

namespace sonde {
namespace {

class HistogramCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] <event> <field> [-- <command>]");
    flags.usage("[<options>] --from <event> --to <event> [--key <field>,...] [-- <command>]");
    flags.usage("[<options>] -x <program> <function> [<variable>] [-- <command>]");
    flags.usage("-i <file> [<options>] <event> <field>");
    flags.description(
        R"(Shows how the values of a field, or the times between two events, are distributed: for any tracepoint, probe, USDT
probe or function. BPF programs add the values up in the kernel as they happen; nothing is sent per event, so events may be
frequent. With -i the events of a recording are added up, to the same sums.

Without a command, -p or -t, the events of all processes count, until Ctrl-C or the end of --duration.)");
    flags.section("EXAMPLES",
                  R"(  sonde histogram syscalls:sys_exit_read ret --by comm -- make
  sonde histogram block:block_rq_issue bytes --duration 10
  sonde histogram --from block:block_rq_issue --to block:block_rq_complete --by dev --interval 5
  sonde histogram --from sched:sched_waking --to sched:sched_switch --duration 10 --svg waits.svg
  sonde histogram -x /usr/lib/x86_64-linux-gnu/libc.so.6 malloc -p 1234 --duration 5
  sonde histogram -x ./app work 'p->size' --linear 64,0,1024 -- ./app
  sonde histogram -i perf.data syscalls:sys_exit_read ret --filter 'ret > 0')");
    declare_histogram_flags(flags, options_);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(finish_histogram_options(options_, arguments));
    return run_histogram(options_, env);
  }

 private:
  HistogramOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_histogram() {
  return std::make_unique<HistogramCommand>();
}

}  // namespace sonde
