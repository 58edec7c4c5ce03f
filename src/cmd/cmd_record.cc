// record: runs a command, or watches what runs already, and writes a profile of it to perf.data.
#include <oneapi/tbb/global_control.h>

#include "capture/recorder.h"
#include "cmd/cmd_record_flags.h"
#include "cmd/command.h"
#include "cmd/own_command_line.h"

namespace sonde {
namespace {

class Record final : public Command {
 public:
  Result<> configure(const Config& config) override { return flags_.configure(config); }

  void declare(FlagTable& flags) override {
    flags_.declare(flags);
    flags.description(
        R"(Runs a command and records its profile, or that of processes, threads, a user, some CPUs or the whole machine, into perf.data. The profile is then read with report, script and the other commands.

Without -e the CPU's cycles are sampled; where there is no hardware counter for them, the clock of the CPU is, and a line says so. Without a target everything that runs is recorded until Ctrl-C.

A perf.data that is already there becomes perf.data.old. Where standard output is a pipe and no -o is given, the recording goes there, in the form that `-i -` reads. The exit status is that of the command, or 128 and the number of the signal that ended it; 255 where the recording failed.

A disk that fills up, Ctrl-C, SIGTERM and --max-size end a recording with a file that can be read.)");
    flags.section("EXAMPLES", R"(  sonde record -g -- make -j8
  sonde record -F 99 -a -g -- sleep 10
  sonde record -p 1234 --call-graph dwarf
  sonde record -e sched:sched_process_exec -a
  sonde record -e '{cpu-clock,context-switches}:S' ./program)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    RecordOptions options = TRY(flags_.settle(env, arguments));
    if (flags_.dry_run()) return 0;
    options.command_line = own_command_line();
    std::optional<oneapi::tbb::global_control> limit;
    if (flags_.synthesis_threads() > 0)
      limit.emplace(oneapi::tbb::global_control::max_allowed_parallelism,
                    flags_.synthesis_threads());
    return run_recording(options, env);
  }

 private:
  RecordFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_record() {
  return std::make_unique<Record>();
}

}  // namespace sonde
