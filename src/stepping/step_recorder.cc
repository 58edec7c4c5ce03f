#include "stepping/step_recorder.h"

#include <cstring>

#include "capture/control/signal_queue.h"
#include "capture/control/workload.h"
#include "capture/recorders/record_output.h"
#include "stepping/step_recording.h"
#include "stepping/stepper.h"

namespace sonde {
namespace {

/// The option that cannot be combined with stepping, and why; empty if there is none.
std::string_view unsuitable_option(const RecordOptions& options, const Env& env) {
  const TargetOptions& target = options.target;
  const SamplingOptions& sampling = options.sampling;
  if (target.command.empty() || target.has_task() || target.has_cpu())
    return "only a command can be stepped, from its start: put it after --";
  if (options.events.size() != 1 || options.off_cpu.enabled || options.futex.enabled)
    return "no other event can be recorded with it";
  if (RecordOutput::is_pipe(options.output, env.out_fd))
    return "its trace cannot go to a pipe: give a file with -o";
  if (options.output.compression_level > 0 || options.output.threads ||
      options.output.aio_blocks > 0 || options.output.kernel_copy || options.switch_output.enabled)
    return "it is written to one file as it is: without -z, --threads, --aio, --kcore and "
           "--switch-output";
  if (options.ring_pages > 0 || sampling.overwrite || sampling.no_samples)
    return "there is no ring buffer: leave out -m, --overwrite and -n";
  if (options.delay.any() || options.control.any())
    return "it cannot be switched on and off: leave out -D and --control";
  if (!options.cgroups.empty()) return "it follows tasks, not cgroups: leave out -G";
  if (sampling.freq || sampling.period || sampling.call_graph != CallGraphMode::kNone ||
      sampling.addresses || sampling.branch_types != 0 || sampling.user_registers != 0 ||
      sampling.interrupt_registers != 0 || sampling.all_kernel || sampling.clockid ||
      sampling.namespaces || sampling.cgroups || sampling.switch_events)
    return "every instruction of user code is recorded, and nothing else: leave out -F, -c, -g, "
           "-d, -b, -I, -k, --user-regs, --all-kernel, --namespaces, --all-cgroups and "
           "--switch-events";
  return {};
}

Result<int> outcome(const StepEnd& end, Workload& command, const RecordOptions& options) {
  if (!end.executed)
    if (std::optional<int> error = command.exec_error())
      return fail(ErrorCode::kFailed, "Failed to collect '{}' for the '{}' workload: {}",
                  options.events[0].name, options.target.command.front(), std::strerror(*error));
  if (end.signal != 0) return 128 + end.signal;
  return end.status && !end.size_reached ? shell_status(*end.status) : 0;
}

}  // namespace

#ifdef __x86_64__

Result<int> run_step_recording(const RecordOptions& options, Env& env) {
  if (std::string_view why = unsuitable_option(options, env); !why.empty())
    return fail(ErrorCode::kUnsupported, "sonde_step//: {}", why);
  std::string path = env.variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::vector<AddressFilter> filters =
      TRY(parse_address_filters(options.events[0].filter, options.target.command.front(), path));
  SignalQueue signals = TRY(SignalQueue::create());
  Workload command = TRY(Workload::fork(options.target.command, false));
  StepRecording recording = TRY(StepRecording::begin(options, env));
  StepperOptions how{.follow = !options.sampling.no_inherit,
                     .max_bytes = options.output.max_size_bytes,
                     .filters = std::move(filters),
                     .log_path = env.variable("SONDE_STEP_LOG").value_or("")};
  Stepper stepper(std::move(how), recording, signals);
  TRY(stepper.seize(command.pid()));
  command.start();
  Result<StepEnd> end = stepper.run();
  if (!end || !end->status) (void)command.reap(true);
  Result<> finished = recording.finish();
  if (!end) return std::unexpected(end.error());
  TRY(finished);
  int status = TRY(outcome(*end, command, options));
  if (!options.quiet)
    env.err.print("[ {} record: Stepped {} instructions, wrote {:.3f} MB {} ]\n", env.tool,
                  end->instructions, static_cast<double>(recording.bytes_written()) / (1 << 20),
                  recording.shown_name());
  return status;
}

#else

Result<int> run_step_recording(const RecordOptions&, Env&) {
  return fail(ErrorCode::kUnsupported,
              "sonde_step//: only x86-64 programs can be stepped: record with -e cpu-clock");
}

#endif

}  // namespace sonde
