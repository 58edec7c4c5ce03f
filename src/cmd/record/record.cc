// record: runs a command, or watches what is already running, and writes a profile of it to
// perf.data.
#include <oneapi/tbb/global_control.h>

#include <cstdlib>

#include "base/process/own_command_line.h"
#include "bpf/filters/shared_filter.h"
#include "capture/opening/target.h"
#include "capture/recorders/record_output.h"
#include "capture/recorders/recorder.h"
#include "capture/synthesis/jit_maps.h"
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/record/flags.h"
#include "export/pictures/flame_drawing.h"
#include "objects/archived_objects.h"
#include "replay/frames/live_unwinder.h"
#include "stepping/step_event.h"
#include "stepping/step_recorder.h"
#include "symbol/dso_symbols.h"

namespace sonde {
namespace {

class Record final : public Command {
 public:
  Result<> configure(const Config& config) override { return flags_.configure(config); }

  void declare(FlagTable& flags) override {
    flags_.declare(flags);
    flags.call(0, "jit", "auto|none",
               "have Java virtual machines write a map of their code (default: none)",
               [this](std::string_view how) -> Result<> {
                 if (how != "auto" && how != "none")
                   return fail(ErrorCode::kUsage, "expects auto or none");
                 jit_maps_ = how == "auto";
                 return {};
               });
    flags
        .call(0, "flamegraph", "file",
              "at the end, draw a flame graph of the recording (default: flamegraph.svg)",
              [this](std::string_view file) -> Result<> {
                if (file.empty()) return fail(ErrorCode::kUsage, "expects a file name");
                picture_ = file;
                return {};
              })
        .when_bare(kDefaultFlameFile);
    flags.description(
        R"(Runs a command and records its profile, or that of processes, threads, a user, some CPUs or the whole machine, into perf.data. The profile is then read with report, script and the other commands.

With --call-graph dwarf the kernel copies the stack of each sample, and the recorder turns the copies into call chains before they reach the file; dwarf,raw stores the copies. With --call-graph bpf a program in the kernel unwinds them: nothing is copied, and the whole machine can be recorded, as root. With --aggregate the samples are counted there, by thread and call chain, and only the sums are written: the whole machine for hours, with --call-graph bpf also with whole stacks.

Without -e, CPU cycles are sampled; if there is no hardware counter for them, the CPU clock is, and a message says so. Without a target, everything that runs is recorded until Ctrl-C.

With -e sonde_step// every instruction of a command is recorded, as Intel Processor Trace does, by single-stepping: about 30 microseconds for each. --filter 'filter FUNCTION', 'start FUNCTION' and 'stop FUNCTION' (with @ OBJECT for a library) limit that to some functions; everything else runs at full speed.

An existing perf.data becomes perf.data.old. What is no recording is never replaced: a file or directory of that name, or of the other, is refused, and so is a second recorder on the same file. If standard output is a pipe and no -o is given, the recording goes there, in the form that `-i -` reads. The exit status is that of the command, or 128 plus the number of the signal that ended it; 255 if the recording failed.

A full disk, Ctrl-C, SIGTERM and --max-size end a recording, but leave a readable file.)");
    flags.section("EXAMPLES", R"(  sonde record -g -- make -j8
  sonde record -F 99 -a -g -- sleep 10
  sonde record --flamegraph=build.svg -- make -j8
  sonde record -p 1234 --call-graph dwarf
  sonde record -a -F 99 --call-graph bpf -- sleep 60
  sonde record -a -F 99 --call-graph bpf --aggregate
  sonde record -e sched:sched_process_exec -a
  sonde record -g --jit auto -- java -jar app.jar
  sonde record -e sonde_step// --filter 'filter main' -- ./program
  sonde record -e '{cpu-clock,context-switches}:S' ./program)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!flags_.filter_setup().empty()) return set_up_filter();
    if (!picture_.empty()) flags_.want_call_chains();
    RecordOptions options = TRY(flags_.finalize(env, arguments));
    if (!picture_.empty()) TRY(prepare_picture(options));
    if (flags_.dry_run()) return 0;
    options.command_line = own_command_line();
    std::optional<oneapi::tbb::global_control> limit;
    if (flags_.synthesis_threads() > 0)
      limit.emplace(oneapi::tbb::global_control::max_allowed_parallelism,
                    flags_.synthesis_threads());
    Result<int> status =
        options.sampling.unwind_stacks ? record_unwinding(options, env) : record(options, env);
    if (status && !flags_.bundle().empty()) TRY(make_bundle(options, env));
    if (status && !picture_.empty()) TRY(draw_picture(options, env));
    return status;
  }

 private:
  Result<int> set_up_filter() const {
    TRY(flags_.filter_setup() == "pin" ? pin_shared_filter() : unpin_shared_filter());
    return 0;
  }

  Result<> make_bundle(const RecordOptions& options, Env& env) {
    BundleSummary made = TRY(write_bundle({.input = options.output.path}, flags_.bundle(), env));
    if (!options.quiet)
      env.err.print("[ {} record: Bundled {} objects into {}, {:.3f} MB ]\n", env.tool,
                    made.objects, flags_.bundle(), static_cast<double>(made.bytes) / (1 << 20));
    return {};
  }

  /// A flame graph needs call graphs, and a single file.
  Result<> prepare_picture(RecordOptions& options) const {
    std::string_view why = options.output.path == "-"      ? "a pipe"
                           : options.switch_output.enabled ? "--switch-output"
                           : options.output.timestamp_name ? "--timestamp-filename"
                                                           : "";
    if (!why.empty())
      return fail(ErrorCode::kFailed,
                  "--flamegraph {}: with {} there is no single file to draw; run flamegraph later",
                  picture_, why);
    if (options.output.path.empty())
      options.output.path = "perf.data";  // whether or not standard output is a pipe
    return {};
  }
  Result<> draw_picture(const RecordOptions& options, Env& env) {
    FlameDrawingOptions drawing;
    name_frame_functions(drawing.source.session.symbols, env);
    TRY(draw_flame_graph(drawing, {options.output.path}, picture_, env));
    if (!options.quiet)
      env.err.print("[ {} record: Drew a flame graph to {} ]\n", env.tool, picture_);
    return {};
  }

  /// Copied stacks are turned into call chains between the rings and the file.
  [[nodiscard]] Result<int> record_unwinding(RecordOptions options, Env& env) const {
    LiveUnwinder unwinder({.arch = abi::host_arch(),
                           .files = finder_options({}, env),
                           .keep_registers = options.sampling.user_registers != 0});
    options.transform = &unwinder;
    Result<int> status = record(options, env);
    unwinder.add_losses(env.losses);
    auto say = [&](uint64_t count, std::string_view why) {
      if (count > 0 && !options.quiet)
        env.err.print("[ {} record: {} stacks are stored as copies: {} ]\n", env.tool, count, why);
    };
    LiveUnwinder::LeftAsCopies left = unwinder.left_as_copies();
    say(left.for_want_of_time, "there was no time to unwind them");
    say(left.for_want_of_dumps, "the jitdumps for their code had not been written yet");
    return status;
  }

  [[nodiscard]] Result<int> record(const RecordOptions& options, Env& env) const {
    if (is_stepped(options.events)) {
      if (jit_maps_)
        return fail(ErrorCode::kUnsupported,
                    "sonde_step//: code generated at run time cannot be traced: leave out --jit");
      return run_step_recording(options, env);
    }
    return jit_maps_ ? record_with_jit_maps(options, env) : run_recording(options, env);
  }

  /// The Java VMs started by the command get their options through its environment. Those already
  /// running may end before the recording does, so they are also asked when it begins.
  static Result<int> record_with_jit_maps(const RecordOptions& options, Env& env) {
    TRY(RecordOutput::check(options.output, env.out_fd));  // before any VM is asked
    std::vector<std::string> told;                         // reported by the recording itself
    Target target = TRY(resolve_target(options.target, told));
    if (target.is_command()) {
      constexpr const char* kVariable = "JAVA_TOOL_OPTIONS";
      bool chains = options.sampling.call_graph != CallGraphMode::kNone;
      std::string value = java_tool_options(env.variable(kVariable).value_or(""), chains);
      ::setenv(kVariable, value.c_str(), 1);  // no other thread runs yet; the command inherits it
      return run_recording(options, env);
    }
    request_jit_maps(target);
    Result<int> status = run_recording(options, env);
    for (const std::string& complaint : request_jit_maps(target))
      env.err.print("{}: {}\n", env.tool, complaint);
    return status;
  }

  bool jit_maps_ = false;
  std::string picture_;  // --flamegraph; empty: none
  RecordFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_record() {
  return std::make_unique<Record>();
}

}  // namespace sonde
