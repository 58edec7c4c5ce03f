#include "stepping/step_recorder.h"

#include <csignal>
#include <cstring>

#include "base/process/hardware_breakpoints.h"
#include "base/sys.h"
#include "capture/control/run_end.h"
#include "capture/control/signal_queue.h"
#include "capture/control/workload.h"
#include "capture/recorders/capture_setup.h"
#include "capture/recorders/record_output.h"
#include "stepping/step_recording.h"
#include "stepping/stepper.h"

namespace sonde {

#ifdef __x86_64__

namespace {

/// Why a sampling option cannot be combined with stepping; empty if none is in the way.
std::string_view unsuitable_sampling(const SamplingOptions& sampling) {
  if (sampling.overwrite || sampling.no_samples || sampling.no_buffering)
    return "there is no ring buffer: leave out --overwrite, -n and --no-buffering";
  bool content = sampling.call_graph != CallGraphMode::kNone || sampling.addresses ||
                 sampling.physical_addresses || sampling.data_page_size ||
                 sampling.code_page_size || sampling.data_source || sampling.weight ||
                 sampling.transaction || sampling.raw || sampling.branch_types != 0 ||
                 sampling.user_registers != 0 || sampling.interrupt_registers != 0 ||
                 sampling.period_in_sample.has_value();
  if (content)
    return "there are no samples: leave out -g, -d, -b, -I, -P, -R, -W, "
           "--flamegraph, --user-regs and whatever else they would contain";
  if (sampling.freq || sampling.freq_max || sampling.period || sampling.all_kernel ||
      sampling.clockid || !sampling.timestamps || sampling.thread_counts || sampling.running_time)
    return "every instruction of user code is recorded, at CLOCK_MONOTONIC: leave out -F, -c, -k, "
           "-s, --no-timestamp, --running-time and --all-kernel";
  if (sampling.namespaces || sampling.cgroups || sampling.switch_events || sampling.buildid_mmap)
    return "there are no events of the kernel: leave out --namespaces, --all-cgroups, "
           "--switch-events, --latency and --buildid-mmap";
  return {};
}

/// The same for all options.
std::string_view unsuitable_option(const RecordOptions& options, const Env& env) {
  const TargetOptions& target = options.target;
  const OutputOptions& output = options.output;
  if (target.command.empty() || target.has_task() || target.has_cpu())
    return "only a command can be stepped, from its start: put it after --";
  if (options.events.size() != 1 || options.off_cpu.enabled || options.futex.enabled)
    return "no other event can be recorded with it";
  const ParsedEvent& event = options.events[0];
  if (event.attr.exclude_user || event.attr.config != 0 || event.terms != EventTerms())
    return "it is user code, every instruction: leave out terms, and modifiers other than u";
  if (RecordOutput::is_pipe(output, env.out_fd))
    return "its trace cannot go to a pipe: give a file with -o";
  if (output.compression_level > 0 || output.threads || output.aio_blocks > 0 ||
      output.kernel_copy || options.switch_output.enabled)
    return "it is written to one file as it is: leave out -z, --threads, --aio, --kcore and "
           "--switch-output";
  if (options.ring_pages > 0 || output.flush_bytes != 1 || options.realtime_priority != 0 ||
      options.affinity != Affinity::kSystem)
    return "there is no ring buffer: leave out -m, --mmap-flush, -r and --affinity";
  if (options.delay.any() || options.control.any())
    return "it cannot be switched on and off: leave out -D and --control, and use --filter";
  if (options.synthesis.at_end)
    return "mappings come before their code: leave out --tail-synthesize";
  if (!options.cgroups.empty()) return "it follows tasks, not cgroups: leave out -G";
  return unsuitable_sampling(options.sampling);
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

Result<int> run_step_recording(const RecordOptions& options, Env& env) {
  TRY(RecordOutput::check(options.output, env.out_fd));
  if (std::string_view why = unsuitable_option(options, env); !why.empty())
    return fail(ErrorCode::kUnsupported, "sonde_step//: {}", why);
  std::string path = env.variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::vector<AddressFilter> filters =
      TRY(parse_address_filters(options.events[0].filter, options.target.command.front(), path));
  bool has_breakpoints = hardware_breakpoints_fire(Sys::host()).value_or(true);
  if (!filters.empty() && !has_breakpoints)
    return fail(ErrorCode::kUnsupported,
                "sonde_step//: --filter needs hardware breakpoints, which never fire on this "
                "machine: leave it out, or record on a machine that has debug registers");
  SignalQueue signals = TRY(SignalQueue::create());
  Workload command = TRY(Workload::fork(options.target.command, false));
  StepRecording recording = TRY(StepRecording::begin(options, env));
  StepperOptions how{.follow = !options.sampling.no_inherit,
                     .max_bytes = options.output.max_size_bytes,
                     .has_breakpoints = has_breakpoints,
                     .filters = std::move(filters),
                     .log_path = env.variable("SONDE_STEP_LOG").value_or("")};
  Stepper stepper(std::move(how), recording, signals);
  if (Result<> seized = stepper.seize(command.pid()); !seized) {
    (void)recording.finish();
    return std::unexpected(seized.error());
  }
  command.start();
  Result<StepEnd> end = stepper.run();
  int ended_by = end ? end->signal : 0;
  bool runs = !end || !end->status;  // or the stepper has taken its status
  RunEnd rest(runs ? &command : nullptr, SIGTERM, ended_by, env);
  Result<> finished = recording.finish();
  if (!end) return std::unexpected(end.error());
  TRY(finished);
  int status = TRY(outcome(*end, command, options));
  if (end->size_reached)
    say(options, env,
        fmt::format("[ {} record: perf size limit reached, stopping session ]", env.tool));
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
