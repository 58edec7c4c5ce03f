// The flags of `trace`.
#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "capture/control/delay_schedule.h"
#include "capture/recorders/capture_values.h"
#include "cmd/options/call_graph_option.h"
#include "cmd/options/profile_flags.h"
#include "cmd/trace/flags.h"

namespace sonde {

void TraceFlags::declare(FlagTable& flags) {
  flags.usage("[<options>] [<command>]")
      .usage("[<options>] -- <command> [<options>]")
      .usage("record [<options>] [<command>]")
      .usage("record [<options>] -- <command> [<options>]");
  flags.stop_at_first_word().subcommands({"record"});
  declare_targets(flags);
  declare_choice(flags);
  declare_lines(flags);
  declare_tables(flags);
  declare_chains(flags);
}

void TraceFlags::declare_targets(FlagTable& flags) {
  TargetOptions& target = options_.record.target;
  flags.boolean('a', "all-cpus", target.all_cpus, "trace all processes");
  flags.text('p', "pid", target.pids, "pid", "trace these processes, separated by commas");
  flags.text('t', "tid", target.tids, "tid", "trace these threads, separated by commas");
  flags.text('u', "uid", target.user, "user", "trace the processes of this user, a name or an id");
  flags.text('C', "cpu", target.cpus, "cpu", "only what happens on these CPUs");
  flags.call(
      'G', "cgroup", "name",
      "only threads in this cgroup; after -e, that applies to its events alone",
      [this](std::string_view name) -> Result<> {
        steps_.emplace_back([this, name = std::string(name)](Env&) { return add_cgroup(name); });
        return {};
      });
  flags.call(0, "filter-pids", "pid[,pid...]",
             "leave out these processes and threads, in the kernel",
             numbers_into(options_.not_pids));
  flags.boolean(0, "no-inherit", no_inherit_,
                "do not trace threads and processes that traced ones start");
  flags.call('D', "delay", "ms",
             "milliseconds until tracing begins, or ranges of them in which to trace (10-20,30-40)",
             [this](std::string_view text) -> Result<> {
               options_.record.delay = TRY(parse_delay(text));
               return {};
             });
  flags.call('m', "mmap-pages", "pages",
             "size of each ring buffer, in pages or with unit B, K, M or G",
             ring_pages_into(options_.record.ring_pages));
  flags.text('i', "input", options_.input, "file", "show this recording, instead of tracing");
  flags.boolean('f', "force", options_.force, "read the recording even if another user owns it");
}

void TraceFlags::declare_choice(FlagTable& flags) {
  auto add = [this](std::string_view text) -> Result<> {
    steps_.emplace_back(
        [this, text = std::string(text)](Env& env) { return add_events(text, env); });
    return {};
  };
  flags.call('e', "event", "event",
             "system calls (names, globs, groups such as file or %net; a leading ! means all but "
             "these) and events to trace",
             add);
  flags.call(0, "expr", "expr", "same as -e", add);
  flags.call(0, "filter", "filter",
             "only events of the last -e with these fields, as in \"count > 100\"",
             [this](std::string_view text) -> Result<> {
               steps_.emplace_back([this, text = std::string(text)](Env&) {
                 return options_.record.events.add_filter(text);
               });
               return {};
             });
  flags.boolean(0, "syscalls", syscalls_,
                "trace system calls (the default, unless -e names only other events)");
  flags
      .call('F', "pf", "all|maj|min",
            "trace page faults: maj, which wait for I/O (the default), min, or all",
            [this](std::string_view kinds) { return set_faults(kinds); })
      .when_last("maj");
  flags.boolean(0, "bpf", options_.bpf,
                "trace calls by BPF programs, with what their arguments point to (the default if "
                "the kernel allows it), "
                "or, with --no-bpf, by tracepoints");
  flags.boolean(0, "bpf-summary", options_.bpf,
                "same as --bpf: with -s calls are added up in the kernel, where no other option "
                "needs them singly");
  flags.boolean(0, "sched", options_.runtime, "show in summaries how long threads ran");
  declare_gate(flags, options_.gate);
}

Result<> TraceFlags::set_faults(std::string_view kinds) {
  if (kinds == "all")
    options_.faults = FaultKinds::kAll;
  else if (kinds == "maj")
    options_.faults = FaultKinds::kMajor;
  else if (kinds == "min")
    options_.faults = FaultKinds::kMinor;
  else
    return fail(ErrorCode::kUsage, "expects all, maj or min, not '{}'", kinds);
  return {};
}

void TraceFlags::declare_lines(FlagTable& flags) {
  flags.text('o', "output", options_.output, "file", "file to write (standard error)");
  flags.boolean('T', "time", options_.full_time,
                "show times of the clock, instead of since the first event");
  flags.boolean(0, "comm", options_.show_comm,
                "show the name of each thread, not only its id (default)");
  flags.call(0, "duration", "float", "only calls that took at least this many milliseconds",
             [this](std::string_view text) -> Result<> {
               double ms = TRY(number_from<double>(text));
               if (!(ms >= 0) || ms > 1e12) return fail(ErrorCode::kUsage, "expects milliseconds");
               options_.min_duration_ns = static_cast<uint64_t>(std::llround(ms * 1e6));
               return {};
             });
  flags.boolean(0, "failure", options_.failed_only, "only calls that failed");
  flags.number(0, "max-events", options_.max_events, "n", "end after this many lines");
  flags.number(0, "string-size", options_.style.string_bytes, "bytes",
               "bytes of strings and buffers to show (32)");
  flags.boolean(0, "force-btf", options_.style.by_types,
                "show enumerators and structures as the kernel's types (BTF) describe them, also "
                "where there is another form");
  flags.boolean(0, "libtraceevent_print", options_.kernel_text,
                "show the fields of tracepoints in the kernel's own format");
  flags.text(0, "map-dump", options_.map_dump, "map",
             "at the end, show the entries of this map of the BPF programs that trace");
  flags.boolean(
      0, "tool_stats", options_.tool_stats,
      "at the end, show how many descriptors got their names from calls, and how many from "
      "/proc");
  flags.boolean(0, "print-sample", options_.print_samples,
                "print the event, time, thread and CPU of each call's samples, for debugging");
  flags
      .act(0, "sort-events", "no effect: calls and events are shown in order of time in any case",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect("calls and events are shown in order of time in any case");
  flags.count(
      'v', "verbose", options_.verbose,
      "say why calls are not traced by BPF programs; show page faults with objects and symbols");
}

void TraceFlags::declare_tables(FlagTable& flags) {
  flags.boolean('s', "summary", options_.summary_only,
                "show how often calls were made and how long they took, instead of the calls");
  flags.boolean('S', "with-summary", options_.summary,
                "show how often calls were made and how long they took, after the calls");
  flags.boolean(0, "errno-summary", options_.tables.errnos,
                "count the errors of each call in the summary; implies -s unless -S is given");
  flags.call(0, "summary-mode", "thread|total|cgroup",
             "summary per thread (the default), in total, or per cgroup",
             [this](std::string_view mode) -> Result<> {
               if (mode == "thread")
                 options_.tables.mode = SummaryMode::kThread;
               else if (mode == "total")
                 options_.tables.mode = SummaryMode::kTotal;
               else if (mode == "cgroup")
                 options_.tables.mode = SummaryMode::kCgroup;
               else
                 return fail(ErrorCode::kUsage, "expects thread, total or cgroup, not '{}'", mode);
               return {};
             });
  flags.number(0, "max-summary", options_.tables.most_rows, "n",
               "rows of each table of a summary (default: all)");
}

void TraceFlags::declare_chains(FlagTable& flags) {
  flags.call(0, "call-graph", "record_mode[,record_size]",
             "show call chains: fp, dwarf[,size] or lbr",
             [this](std::string_view text) -> Result<> {
               has_call_graph_ = true;
               TRY(parse_call_graph(text, options_.record.sampling, nullptr));
               if (options_.record.sampling.call_graph != CallGraphMode::kBpf) return {};
               return fail(ErrorCode::kUnsupported,
                           "--call-graph bpf: only record and top unwind in the kernel: use "
                           "--call-graph dwarf");
             });
  flags.boolean(0, "kernel-syscall-graph", options_.kernel_call_chains,
                "show the kernel's call chains where calls return");
  flags.number(0, "max-stack", options_.max_stack, "n",
               "functions of a call chain to show; implies --call-graph dwarf");
  flags.number(0, "min-stack", options_.min_stack, "n",
               "only what has a call chain at least this deep; implies --call-graph dwarf");
  flags.number(0, "proc-map-timeout", options_.record.synthesis.map_timeout_ms, "n",
               "milliseconds for which the mappings of a process are read (500)");
  declare_symbol_sources(flags, options_.symbols);
}

Result<> TraceFlags::configure(const Config& config) {
  options_.show_duration = TRY(config.get_bool("trace.show_duration", true));
  no_inherit_ = TRY(config.get_bool("trace.no_inherit", false));
  options_.show_timestamp = TRY(config.get_bool("trace.show_timestamp", true));
  if (auto events = config.get("trace.add_events")) configured_events_ = std::string(*events);
  if (auto printer = config.get("trace.tracepoint_beautifiers")) {
    if (*printer != "libtraceevent" && *printer != "libbeauty")
      return fail(ErrorCode::kUsage,
                  "trace.tracepoint_beautifiers = {}: expects libtraceevent or libbeauty",
                  *printer);
    options_.kernel_text = *printer == "libtraceevent";
  }
  options_.style.show_zeros = TRY(config.get_bool("trace.show_zeros", false));
  options_.style.show_names = TRY(config.get_bool("trace.show_arg_names", true));
  options_.style.show_prefixes = TRY(config.get_bool("trace.show_prefix", false));
  const std::optional<std::string_view> column = config.get("trace.args_alignment");
  if (!column) return {};
  constexpr uint64_t kMaxColumn = 1000;
  std::optional<uint64_t> number = parse_number(*column);
  if (!number || *number > kMaxColumn)
    return fail(ErrorCode::kUsage, "trace.args_alignment = {}: expects a column from 0 to {}",
                *column, kMaxColumn);
  options_.result_column = static_cast<size_t>(*number);
  return {};
}

Result<> TraceFlags::check(const std::vector<std::string>& command) const {
  bool live_only = !command.empty() || options_.record.target.has_task() ||
                   !options_.cgroup_of_all.empty() || options_.record.target.all_cpus ||
                   options_.record.delay.any();
  if (!options_.input.empty() && live_only && (!command.empty() || options_.record.target.all_cpus))
    return fail(ErrorCode::kUsage, "-i {}: reads a recording, so there is nothing to run",
                options_.input);
  if (!options_.input.empty() && !options_.map_dump.empty())
    return fail(ErrorCode::kUsage, "--map-dump: no BPF program traces when a recording is read");
  if (options_.tables.mode == SummaryMode::kCgroup && options_.summary &&
      (!options_.input.empty() || !options_.summary_only || options_.failed_only ||
       options_.min_duration_ns != 0))
    return fail(ErrorCode::kUnsupported,
                "--summary-mode cgroup: cgroups are counted in the kernel, so it works with -s "
                "only, not with -i, "
                "-S, --failure or --duration");
  if (!options_.wants_calls && options_.faults == FaultKinds::kNone &&
      options_.record.events.empty() && !options_.runtime && options_.input.empty())
    return fail(ErrorCode::kUsage,
                "there is nothing to trace: -e names calls and events, -F all page faults");
  return {};
}

Result<TraceOptions> TraceFlags::finalize(Env& env, const std::vector<std::string>& command) {
  for (const Step& step : steps_) TRY(step(env));
  std::ranges::sort(options_.calls.calls);
  bool only_events =
      !names_calls_ && (!options_.record.events.empty() || !options_.recorded_events.empty());
  options_.wants_calls = syscalls_.value_or(!only_events);
  if (!configured_events_.empty() && options_.input.empty())
    TRY(add_events(configured_events_, env));
  if (options_.tables.errnos && !options_.summary) options_.summary_only = true;
  options_.summary |= options_.summary_only;
  if ((options_.max_stack || options_.min_stack) && !has_call_graph_)
    options_.record.sampling.call_graph = CallGraphMode::kDwarf;
  options_.record.sampling.no_inherit = no_inherit_;
  options_.record.sampling.no_inherit_given = true;
  options_.record.target.command = command;
  options_.record.verbose = options_.verbose;
  TRY(check(command));
  return options_;
}

}  // namespace sonde
