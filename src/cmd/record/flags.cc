#include "cmd/record/flags.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "abi/regs.h"
#include "base/text.h"
#include "capture/aux/trace_groups.h"
#include "capture/aux/trace_plan.h"
#include "capture/control/control_channel.h"
#include "capture/control/delay_schedule.h"
#include "capture/opening/owned_events_setup.h"
#include "capture/recorders/call_graph_choice.h"
#include "capture/recorders/record_output.h"
#include "capture/synthesis/kernel_copy.h"
#include "cmd/options/event_selection_flags.h"
#include "cmd/options/guest_flags.h"
#include "stepping/step_event.h"
#include "store/build_id_cache.h"
#include "symbol/debuginfod.h"
#include "unwind/stack_unwinder.h"

namespace sonde {

void RecordFlags::declare(FlagTable& flags) {
  flags.usage("[<options>] [<command>]").usage("[<options>] -- <command> [<options>]");
  flags.stop_at_first_word();
  declare_events(flags);
  declare_targets(flags);
  declare_sampling(flags);
  declare_call_graphs(flags);
  declare_registers(flags);
  declare_sideband(flags);
  declare_buffers(flags);
  declare_output(flags);
  declare_run(flags);
}

void RecordFlags::declare_events(FlagTable& flags) {
  declare_event_selection(flags, selection_);
  flags.act(0, "exclude-perf",
            "leave out what this recorder does itself, of the tracepoints of the -e before it",
            [this]() -> Result<> {
              selection_.then([](EventSelection::Chosen& chosen, Env&) {
                return chosen.events.exclude_process(::getpid());
              });
              return {};
            });
  flags.call(0, "setup-filter", "pin|unpin",
             "pin (as root): from now on, every user can filter the samples of his own tasks with "
             "--filter; unpin: no longer",
             [this](std::string_view text) -> Result<> {
               if (text != "pin" && text != "unpin")
                 return fail(ErrorCode::kUsage, "--setup-filter expects pin or unpin");
               filter_setup_ = text;
               return {};
             });
  flags.text(0, "clang-path", selection_.compiler().clang, "clang path",
             "the clang that compiles BPF programs given as source (-e program.c)");
  flags.text(0, "clang-opt", selection_.compiler().options, "clang options",
             "further options for the clang that compiles BPF programs");
  flags
      .text(0, "vmlinux", vmlinux_, "file",
            "image of the kernel, for BPF programs (not needed: they fetch their arguments "
            "themselves)")
      .without_effect("BPF programs fetch their arguments without it, which is said");
  flags.boolean(0, "group", options_.sampling.group_all,
                "sample all events as one group: all of them at the same times");
  flags.call(0, "switch-output-event", "switch output event",
             "begin a new output file whenever one of these events occurs (names as for -e); they "
             "are not recorded",
             [this](std::string_view text) -> Result<> {
               options_.switch_output.enabled = options_.switch_output.on_signal = true;
               selection_.then([this, text = std::string(text)](auto&, Env& env) {
                 return selection_.parse(text, options_.switch_output_events, env);
               });
               return {};
             });
}

void RecordFlags::declare_targets(FlagTable& flags) {
  TargetOptions& target = options_.target;
  flags.text('p', "pid", target.pids, "pid",
             "record these processes, which run already (ids, separated by commas)");
  flags.text('t', "tid", target.tids, "tid",
             "record these threads, which run already (ids, separated by commas)");
  flags.text('u', "uid", target.user, "user",
             "record what this user runs (name or id), also what is started later");
  flags.boolean(
      'a', "all-cpus", target.all_cpus,
      "record whatever runs on any CPU (default if neither a command nor a process is given)");
  flags.text('C', "cpu", target.cpus, "cpu", "record whatever runs on these CPUs, such as 0,2-4");
  flags.boolean(0, "per-thread", target.per_thread,
                "with a command, -p or -t: a buffer for each thread, not for each CPU; what they "
                "start is left out");
  flags.boolean('i', "no-inherit", no_inherit_,
                "leave out the processes and threads that those which are recorded start");
}

void RecordFlags::declare_sideband(FlagTable& flags) {
  SamplingOptions& sampling = options_.sampling;
  flags.boolean(0, "namespaces", sampling.namespaces, "also record which namespaces tasks are in");
  flags.boolean(0, "all-cgroups", sampling.cgroups,
                "also record the cgroup of each sample, and the names of all cgroups");
  flags.boolean(0, "switch-events", switch_events_,
                "also record when tasks are switched in and out");
  flags.boolean(0, "latency", latency_,
                "record context switches, for report --latency: how many threads were running");
  flags.boolean(0, "no-bpf-event", no_bpf_events_,
                "leave out BPF programs: those that are loaded, and those that will be");
  flags.call(
      0, "synth", "no|all|task|mmap|cgroup",
      "what to describe of what runs already: tasks, their mappings (mmap), cgroups (default: all)",
      [this](std::string_view list) { return set_synthesis(list); });
  flags.boolean(0, "tail-synthesize", options_.synthesis.at_end,
                "describe what ran already at the end of the recording, not at its beginning");
  flags.number(
      0, "proc-map-timeout", options_.synthesis.map_timeout_ms, "n",
      "the most ms to spend on reading the mappings of a process that runs already (default: 500)");
  flags.number(0, "num-thread-synthesize", synthesis_threads_, "n",
               "use at most n threads, to describe what runs already and for later work (default: "
               "one for each CPU)");
}

/// -S[e][SIZE]
Result<> RecordFlags::set_snapshot(std::string_view text) {
  options_.trace.snapshot = true;
  if (text.starts_with('e')) {
    options_.trace.snapshot_at_end = true;
    text.remove_prefix(1);
  }
  if (text.empty()) return {};
  std::optional<uint64_t> bytes = parse_number(text);
  if (!bytes || *bytes == 0) return fail(ErrorCode::kUsage, "expects e, a size in bytes, or both");
  options_.trace.snapshot_bytes = *bytes;
  return {};
}

Result<> RecordFlags::set_synthesis(std::string_view list) {
  SynthesisOptions& synthesis = options_.synthesis;
  synthesis.tasks = synthesis.maps = synthesis.cgroups = false;
  for (std::string_view word : split(list, ',')) {
    if (word == "no") {
      synthesis.tasks = synthesis.maps = synthesis.cgroups = false;
      return {};
    }
    bool all = word == "all";
    if (!all && word != "task" && word != "mmap" && word != "cgroup")
      return fail(ErrorCode::kUsage, "--synth: '{}' is none of no, all, task, mmap and cgroup",
                  word);
    synthesis.tasks |= all || word == "task" || word == "mmap";
    synthesis.maps |= all || word == "mmap";
    synthesis.cgroups |= all || word == "cgroup";
  }
  return {};
}

void RecordFlags::declare_run(FlagTable& flags) {
  flags.call('D', "delay", "ms",
             "begin to record n ms after the start (-1: when --control says so); 10-20,30-40: "
             "record in these ranges of ms",
             [this](std::string_view text) -> Result<> {
               options_.delay = TRY(parse_delay(text));
               return {};
             });
  flags.call(0, "control", "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
             "obey lines from there: enable, disable, snapshot, evlist, ping, stop; answer ack to "
             "the second one, if given",
             [this](std::string_view text) -> Result<> {
               options_.control = TRY(parse_control(text));
               return {};
             });
  flags
      .call(0, "off-cpu", "ms",
            "also record where threads wait, and for how long; a value sets --off-cpu-thresh",
            [this](std::string_view ms) -> Result<> {
              options_.off_cpu.enabled = true;
              if (!ms.empty()) options_.off_cpu.long_ms = TRY(number_from<uint64_t>(ms));
              return {};
            })
      .when_bare("")
      .on_negation([this] { options_.off_cpu.enabled = false; });
  flags.call(0, "off-cpu-thresh", "ms",
             "waits of at least this length get a sample of their own, shorter ones are added up "
             "(default: 500)",
             [this](std::string_view ms) -> Result<> {
               options_.off_cpu.enabled = true;
               options_.off_cpu.long_ms = TRY(number_from<uint64_t>(ms));
               return {};
             });
  flags.act(0, "off-cpu-waker", "with --off-cpu: also record who ended the waits, and where",
            [this]() -> Result<> {
              options_.off_cpu.enabled = options_.off_cpu.wakers = true;
              return {};
            });
  flags
      .call(0, "futex", "sums",
            "also add up where threads sleep in futex(2), for `lock contention`; the value is the "
            "maximum number of sums (default: 10240)",
            [this](std::string_view sums) -> Result<> {
              options_.futex.enabled = true;
              if (!sums.empty()) options_.futex.most_rows = TRY(number_from<uint32_t>(sums));
              return {};
            })
      .when_bare("")
      .on_negation([this] { options_.futex.enabled = false; });
  flags
      .call('S', "snapshot", "opts",
            "keep only the newest part of an instruction trace, on SIGUSR2; opts: e (at the end, "
            "too), a size in bytes",
            [this](std::string_view text) { return set_snapshot(text); })
      .when_bare("");
  flags
      .call(0, "aux-sample", "opts",
            "put the newest part of the instruction trace into samples: so many bytes (default: "
            "4096)",
            [this](std::string_view text) -> Result<> {
              options_.trace.sample_bytes = TRY(parse_aux_sample_size(text));
              return {};
            })
      .when_bare("")
      .on_negation([this] { options_.trace.sample_bytes = 0; });
  declare_guest_sides(flags, options_.guests.host, options_.guests.guest);
  declare_guest_files(flags, options_.guests.files);
  flags.boolean(0, "dry-run", dry_run_, "check the options, then end without a recording");
  flags.count('v', "verbose", options_.verbose,
              "also say what is set up for the recording (probes, BPF programs, snapshots); -vv: "
              "attributes of events");
  flags.boolean('q', "quiet", options_.quiet, "print nothing but errors");
}

Result<> RecordFlags::configure(const Config& config) {
  configure_compiler(config, selection_.compiler());
  if (auto mode = config.get("record.build-id")) {
    if (*mode == "no-cache")
      options_.build_ids.update_cache = false;
    else if (*mode == "skip")
      options_.build_ids.collect = false;
    else if (*mode == "mmap")
      options_.sampling.buildid_mmap = true;
    else if (*mode != "cache")
      return fail(ErrorCode::kFailed,
                  "record.build-id: '{}' is none of cache, no-cache, skip, mmap", *mode);
  }
  if (auto urls = config.get("record.debuginfod")) configured_debuginfod_ = *urls;
  TRY(default_call_graph_.configure(config));
  if (auto size = config.get("call-graph.dump-size")) {
    std::optional<uint64_t> bytes = parse_number(*size);
    if (!bytes || *bytes == 0 || *bytes > kMaxStackDumpSize)
      return fail(ErrorCode::kFailed, "call-graph.dump-size: '{}' is not a size up to {}", *size,
                  kMaxStackDumpSize);
    options_.sampling.dump_size = static_cast<uint32_t>((*bytes + 7) / 8 * 8);
  }
  return {};
}

Result<RecordOptions> RecordFlags::finalize(Env& env, const Arguments& arguments) {
  options_.target.command = arguments.words;
  options_.target.user_later = true;
  if (options_.sampling.all_user && options_.sampling.all_kernel)
    return fail(ErrorCode::kUsage,
                "--all-kernel and --all-user leave out each other's samples: give one of them");
  if (!rounding_.empty() && !options_.quiet) env.err.write_lines(rounding_ + "\n");
  selection_.serve(options_.target, options_.verbose, env);
  options_.made = selection_.made();
  if (!vmlinux_.empty())
    env.err.print("--vmlinux is not needed: BPF programs fetch their arguments themselves\n");
  TRY(selection_.finalize({options_.events, options_.cgroups}, env));
  if (no_inherit_) {
    options_.sampling.no_inherit = *no_inherit_;
    options_.sampling.no_inherit_given = true;
  }
  if (timestamps_) {
    options_.sampling.timestamps = *timestamps_;
    options_.sampling.timestamps_given = *timestamps_;
  }
  if (switch_events_) {
    options_.sampling.switch_events = *switch_events_;
    options_.trace.switch_events = *switch_events_;
  }
  options_.sampling.bpf_events = !no_bpf_events_;
  if (options_.sampling.overwrite) options_.synthesis.at_end = true;
  TRY(settle_build_ids(env));
  settle_bundle();
  TRY(settle_latency());
  TRY(refuse_conflicts(env));
  TRY(settle_call_graph(env));
  TRY(settle_aggregation());
  TRY(settle_off_cpu());
  settle_unwinding(env);
  settle_compression(env);
  return options_;
}

/// On whole CPUs, the level would be that of everything that runs there, as in perf.
Result<> RecordFlags::settle_latency() {
  if (!latency_) return {};
  const TargetOptions& target = options_.target;
  bool of_tasks = !target.command.empty() || !target.pids.empty() || !target.tids.empty() ||
                  !target.user.empty();
  if (target.all_cpus || !target.cpus.empty() || !of_tasks)
    return fail(ErrorCode::kFailed,
                "--latency: not with whole CPUs (-a, -C), where other programs run too; give a "
                "command, -p, -t or -u");
  options_.sampling.switch_events = true;
  return {};
}

void RecordFlags::want_call_chains() {
  if (options_.sampling.call_graph == CallGraphMode::kNone)
    options_.sampling.call_graph = CallGraphMode::kBest;
}

Result<> RecordFlags::settle_call_graph(Env& env) {
  if (options_.sampling.aggregation.enabled) want_call_chains();
  if (is_stepped(options_.events)) return {};  // has no chains, and refuses -g itself
  return default_call_graph_.settle(options_, why_not_unwound(), &keep_stack_copies_, "record",
                                    env);
}

bool RecordFlags::copies_stacks() const {
  return options_.sampling.call_graph == CallGraphMode::kDwarf ||
         std::ranges::any_of(options_.events.events(), [](const ParsedEvent& event) {
           return event.terms.call_graph == CallGraphTerm::kDwarf;
         });
}

/// Chains of one program are very similar: compression reduces them to a tenth, for a few percent
/// of the time that unwinding takes; and so are the sums of one window and the next. Those are so
/// few that the compressor can search them thoroughly.
void RecordFlags::settle_compression(const Env& env) {
  constexpr int kFast = 1, kThorough = 12;
  const SamplingOptions& sampling = options_.sampling;
  bool by_itself = (sampling.unwind_stacks || sampling.aggregation.enabled) &&
                   !RecordOutput::is_pipe(options_.output, env.out_fd);
  options_.output.compression_level =
      compression_level_.value_or(!by_itself                     ? 0
                                  : sampling.aggregation.enabled ? kThorough
                                                                 : kFast);
}

/// Unwinding needs records in time order, in one thread, and mappings before their samples.
std::string_view RecordFlags::why_not_unwound() const {
  if (!StackUnwinder::knows(abi::host_arch()))
    return "stacks of this architecture cannot be unwound yet";
  return sonde::why_not_unwound(options_);
}

void RecordFlags::settle_unwinding(Env& env) {
  if (!copies_stacks() || keep_stack_copies_) return;
  std::string_view reason = why_not_unwound();
  if (reason.empty()) {
    options_.sampling.unwind_stacks = options_.sampling.timestamps_given = true;
  } else if (!options_.quiet) {
    env.err.print("Stacks are stored as copies, for the report to unwind: {}\n", reason);
  }
}

Result<> RecordFlags::refuse_conflicts(const Env& env) const {
  bool pipe = options_.output.path == "-";
  if (options_.output.threads) {
    if (options_.output.aio_blocks > 0)
      return fail(ErrorCode::kFailed,
                  "--aio writes from one thread, --threads from several: give one of them");
    if (options_.target.per_thread)
      return fail(ErrorCode::kFailed,
                  "--threads shares the buffers of CPUs among its threads, with --per-thread there "
                  "are none: give one of them");
    if (pipe)
      return fail(ErrorCode::kFailed,
                  "--threads writes several files, which a pipe cannot hold: name a directory for "
                  "them with -o");
    if (options_.switch_output.enabled || options_.sampling.overwrite)
      return fail(ErrorCode::kFailed,
                  "--threads writes its files from beginning to end: leave out --switch-output and "
                  "--overwrite, or --threads");
  }
  if (!bundle_.empty() && (pipe || options_.output.threads || options_.output.kernel_copy ||
                           options_.switch_output.enabled || options_.output.timestamp_name))
    return fail(
        ErrorCode::kFailed,
        "--bundle needs a recording in one file with a known name: it excludes a pipe, --threads, "
        "--kcore, --switch-output and --timestamp-filename");
  if (options_.output.kernel_copy) {
    if (pipe)
      return fail(ErrorCode::kFailed, "--kcore needs a file: a pipe cannot hold a directory");
    TRY(RecordOutput::check(options_.output, env.out_fd));
    TRY(check_kcore_readable());
  }
  if (pipe && options_.switch_output.enabled)
    return fail(ErrorCode::kFailed, "--switch-output needs a file: a pipe cannot be renamed");
  return {};
}

/// The BPF programs that count read CLOCK_MONOTONIC, so everything uses it.
Result<> RecordFlags::settle_aggregation() {
  SamplingOptions& sampling = options_.sampling;
  if (!sampling.aggregation.enabled) return {};
  std::string_view other = sampling.clockid.value_or(CLOCK_MONOTONIC) != CLOCK_MONOTONIC
                               ? "-k, except -k mono,"
                           : sampling.call_graph == CallGraphMode::kDwarf ? "--call-graph dwarf"
                           : sampling.call_graph == CallGraphMode::kLbr   ? "--call-graph lbr"
                           : options_.output.threads                      ? "--threads"
                           : sampling.overwrite                           ? "--overwrite"
                           : !sampling.timestamps                         ? "--no-timestamp"
                           : !sampling.period_in_sample.value_or(true)    ? "--no-period"
                           : latency_                                     ? "--latency"
                                                                          : "";
  if (!other.empty())
    return fail(ErrorCode::kFailed, "--aggregate cannot be combined with {}: omit one of them",
                other);
  sampling.clockid = CLOCK_MONOTONIC;
  sampling.timestamps_given = true;
  // Unless a threshold was chosen, long waits are summed like all others.
  constexpr uint64_t kNever = UINT64_MAX / 1'000'000;
  if (options_.off_cpu.long_ms == OffCpuOptions{}.long_ms) options_.off_cpu.long_ms = kNever;
  return {};
}

/// BPF programs read CLOCK_MONOTONIC, so everything uses it.
Result<> RecordFlags::settle_off_cpu() {
  if (!options_.off_cpu.enabled && !options_.futex.enabled) return {};
  std::string_view option = options_.off_cpu.enabled ? "--off-cpu" : "--futex";
  if (options_.sampling.clockid.value_or(CLOCK_MONOTONIC) != CLOCK_MONOTONIC)
    return fail(ErrorCode::kUsage, "{} uses the clock of -k mono; no other is possible", option);
  std::string_view other = !options_.target.cpus.empty()    ? "-C"
                           : !options_.cgroups.empty()      ? "-G"
                           : options_.output.threads        ? "--threads"
                           : options_.sampling.overwrite    ? "--overwrite"
                           : !options_.sampling.timestamps  ? "--no-timestamp"
                           : options_.switch_output.enabled ? "--switch-output"
                                                            : "";
  if (!other.empty())
    return fail(
        ErrorCode::kUsage,
        "{} cannot be combined with {}: it measures threads, or all threads of the machine, "
        "and writes its sums at the end",
        option, other);
  options_.sampling.clockid = CLOCK_MONOTONIC;
  options_.sampling.timestamps_given = true;
  return {};
}

void RecordFlags::settle_bundle() {
  if (bundle_.empty()) return;
  std::string& path = options_.output.path;
  if (path.empty()) path = "perf.data";  // whether or not standard output is a pipe
  if (bundle_ == ".bundle") bundle_ = path + ".bundle";
}

Result<> RecordFlags::settle_build_ids(const Env& env) {
  BuildIdOptions& build_ids = options_.build_ids;
  // What would take long at each switch is omitted, unless requested.
  bool switching = options_.switch_output.enabled;
  if (no_buildid_ || switching) build_ids.collect = !no_buildid_.value_or(switching);
  if (no_buildid_cache_ || switching)
    build_ids.update_cache = !no_buildid_cache_.value_or(switching);
  if (options_.sampling.buildid_mmap) build_ids.collect = false;
  build_ids.cache_directory = build_id_directory(env);
  bool fills_cache = build_ids.collect && build_ids.update_cache;
  if (debuginfod_ && !fills_cache)
    return fail(ErrorCode::kUsage,
                "--debuginfod fills the build-id cache, which this recording leaves alone (-B, -N, "
                "--buildid-mmap, --switch-output, record.build-id): omit one of them");
  std::optional<std::string>& urls = debuginfod_ ? debuginfod_ : configured_debuginfod_;
  build_ids.debuginfod = urls && fills_cache;
  if (build_ids.debuginfod) TRY(start_debuginfod(*urls));
  return {};
}

}  // namespace sonde
