#include "cmd/stat/flags.h"

#include <unistd.h>

#include <algorithm>

#include "base/printing/csv.h"
#include "base/text.h"
#include "capture/control/control_channel.h"
#include "capture/control/delay_schedule.h"
#include "capture/opening/owned_events_setup.h"
#include "cmd/options/event_selection_flags.h"

namespace sonde {
namespace {

constexpr uint64_t kMinTimeoutMs = 10;

}  // namespace

void StatFlags::declare(FlagTable& flags) {
  flags.usage("[<options>] [<command>]");
  flags.stop_at_first_word();
  declare_events(flags);
  declare_targets(flags);
  declare_grouping(flags);
  declare_output(flags);
  declare_run(flags);
  declare_metrics(flags);
  declare_comparison(flags);
  flags
      .text(0, "iostat", root_ports_, "default",
            "measure I/O performance metrics provided by arch/platform")
      .when_bare("");
}

Result<> StatFlags::configure(const Config& config) {
  configure_compiler(config, selection_.compiler());
  options_.big_num = TRY(config.get_bool("stat.big-num", true));
  options_.csv_summary_column = !TRY(config.get_bool("stat.no-csv-summary", false));
  return {};
}

void StatFlags::declare_events(FlagTable& flags) {
  declare_event_selection(flags, selection_);
  flags.text(0, "for-each-cgroup", for_each_cgroup_, "name", "expand events for each cgroup");
  flags.boolean(0, "bpf-counters", options_.count.bpf_counters, "use bpf program to count events");
  flags.text(0, "bpf-attr-map", options_.count.bpf_attr_map, "attr-map-path",
             "path to perf_event_attr map");
  flags.boolean('g', "group", options_.count.group_all, "put the counters into a counter group");
  flags.boolean('n', "null", null_run_, "null run - dont start any counters");
  flags.count('d', "detailed", detail_, "detailed run - start a lot of events");
  flags.boolean('T', "transaction", transaction_, "hardware transaction statistics");
  flags.boolean(0, "all-kernel", options_.count.all_kernel,
                "Configure all used events to run in kernel space.");
  flags.boolean(0, "all-user", options_.count.all_user,
                "Configure all used events to run in user space.");
  flags.text(0, "cputype", core_kind_, "hybrid cpu type",
             "Only enable events on applying cpu with this type for hybrid platform (e.g. core or "
             "atom)");
  flags.text(0, "pmu-filter", pmu_filter_, "pmu",
             "Of events that several PMUs have, only enable those of this one");
}

void StatFlags::declare_targets(FlagTable& flags) {
  TargetOptions& target = options_.count.target;
  flags.boolean('a', "all-cpus", target.all_cpus, "system-wide collection from all CPUs");
  flags.text('C', "cpu", target.cpus, "cpu", "list of cpus to monitor in system-wide");
  flags.text('p', "pid", target.pids, "pid", "stat events on existing process id");
  flags.text('t', "tid", target.tids, "tid", "stat events on existing thread id");
  flags.call('b', "bpf-prog", "bpf-prog-id", "stat events on existing bpf program id",
             [this](std::string_view list) -> Result<> {
               for (std::string_view id : split(list, ',')) {
                 std::optional<uint64_t> number = parse_number(trim(id));
                 if (!number || *number == 0 || *number > UINT32_MAX)
                   return fail(ErrorCode::kUsage, "expects the id of a BPF program");
                 options_.count.bpf_programs.push_back(static_cast<uint32_t>(*number));
               }
               return {};
             });
  flags.boolean('i', "no-inherit", options_.count.no_inherit,
                "child tasks do not inherit counters");
}

void StatFlags::declare_grouping(FlagTable& flags) {
  using view::CountGrouping;
  declare_unit_flags(flags, options_.grouping);
  flags.choose(0, "per-cluster", options_.grouping, CountGrouping::kCluster,
               "aggregate counts per processor cluster");
  flags.choose(0, "per-thread", options_.grouping, CountGrouping::kThread,
               "aggregate counts per thread");
  flags.boolean(0, "percore-show-thread", options_.percore_show_thread,
                "Use with 'percore' event qualifier to show the event counts of one hardware "
                "thread by sum up total hardware threads of same physical core");
  flags.boolean(0, "no-merge", options_.no_merge, "Do not merge identical named events");
  flags.boolean(0, "hybrid-merge", options_.hybrid_merge, "Merge identical named hybrid events");
  flags.boolean(0, "scale", options_.scale,
                "Use --no-scale to disable counter scaling for multiplexing");
}

void StatFlags::declare_output(FlagTable& flags) {
  flags.text('x', "field-separator", options_.separator, "separator",
             "print counts with custom separator");
  flags
      .act('j', "json-output", "print counts in JSON format",
           [this]() -> Result<> {
             options_.json = 1;
             return {};
           })
      .no_negation();
  flags
      .call(0, "json", "1|2",
            "print counts in JSON: 1 is perf's format, 2 a document with numbers and each run",
            [this](std::string_view text) -> Result<> {
              if (text != "1" && text != "2" && text != "v2")
                return fail(ErrorCode::kUsage, "expects 1 or 2");
              options_.json = text == "1" ? 1 : 2;
              return {};
            })
      .when_bare("1");
  flags.boolean('B', "big-num", big_num_, "print large numbers with thousands' separators");
  flags.text('o', "output", options_.output, "file", "output file name");
  flags.boolean(0, "append", options_.append, "append to the output file");
  flags.number(0, "log-fd", options_.log_fd, "n", "log output to fd, instead of stderr");
  flags.boolean(0, "table", options_.run_table,
                "display details about each run (only with -r option)");
  flags.boolean(0, "metric-only", options_.metric_only,
                "Only print computed metrics. No raw values");
  flags.boolean(0, "summary", options_.summary, "print summary for interval mode");
  flags
      .act(0, "no-csv-summary", "don't print 'summary' for CSV summary output",
           [this]() -> Result<> {
             options_.csv_summary_column = false;
             return {};
           })
      .no_negation();
  flags.boolean(0, "quiet", options_.count.quiet,
                "don't print any output, messages or warnings (useful with record)");
  flags.count('v', "verbose", options_.count.verbose,
              "be more verbose (show counter open errors, etc)");
}

void StatFlags::declare_run(FlagTable& flags) {
  flags.number('r', "repeat", runs_, "n",
               "repeat command and print average + stddev (max: 100, forever: 0)");
  flags.text(0, "pre", options_.pre, "command", "command to run prior to the measured command");
  flags.text(0, "post", options_.post, "command", "command to run after to the measured command");
  flags.boolean('S', "sync", options_.sync, "call sync() before starting a run");
  flags.number('I', "interval-print", interval_ms_, "n",
               "print counts at regular interval in ms (overhead is possible for values <= 100ms)");
  flags.number(0, "interval-count", interval_count_, "n", "print counts for fixed number of times");
  flags.boolean(0, "interval-clear", options_.interval_clear,
                "clear screen in between new interval");
  flags.number(0, "timeout", timeout_ms_, "n",
               "stop workload and print counts after a timeout period in ms (>= 10ms)");
  flags.call('D', "delay", "n",
             "ms to wait before starting measurement after program start (-1: start with events "
             "disabled)",
             [this](std::string_view text) -> Result<> {
               options_.count.delay = TRY(parse_delay(text));
               return {};
             });
  flags.call(0, "control", "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
             "Listen on ctl-fd descriptor for command to control measurement ('enable': enable "
             "events, 'disable': disable events).\n"
             "\t\t\t  Optionally send control command completion ('ack\\n') to ack-fd "
             "descriptor.\n"
             "\t\t\t  Alternatively, ctl-fifo / ack-fifo will be opened and used as ctl-fd / "
             "ack-fd.",
             [this](std::string_view text) -> Result<> {
               options_.count.control = TRY(parse_control(text));
               return {};
             });
}

void StatFlags::declare_metrics(FlagTable& flags) {
  flags.call('M', "metrics", "metric/metric group list",
             "monitor specified metrics or metric groups (separated by ,)",
             [this](std::string_view text) -> Result<> {
               selection_.then([this, list = std::string(text)](auto&, Env& env) {
                 return add_metrics(list, env);
               });
               return {};
             });
  flags.boolean(0, "metric-no-group", metric_no_group_,
                "don't group metric events, impacts multiplexing");
  flags.boolean(0, "metric-no-merge", metric_no_merge_,
                "don't try to share events between metrics in a group");
  flags
      .act(0, "metric-no-threshold", "disable adding events for the metric threshold calculation",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect("no events are added for thresholds");
  flags.boolean(0, "topdown", topdown_, "measure top-down statistics");
  flags.number(0, "td-level", topdown_level_, "n",
               "Set the metrics level for the top-down statistics (0: max level)");
  flags.boolean(0, "smi-cost", smi_cost_, "measure SMI cost");
  constexpr const char* kNoLatencies =
      "retire latencies are sampled for events with the modifier R alone, which needs Timed PEBS "
      "(Granite Rapids and later); no event here takes it";
  flags
      .act(0, "record-tpebs", "sample retire latencies of events with the modifier R",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect(kNoLatencies);
  flags
      .call(0, "tpebs-mode", "mean|min|max|last", "which of the sampled retire latencies to use",
            [](std::string_view mode) -> Result<> {
              for (std::string_view known : {"mean", "min", "max", "last"})
                if (mode == known) return {};
              return fail(ErrorCode::kUsage,
                          "--tpebs-mode expects mean, min, max or last, not '{}'", mode);
            })
      .offers({"mean", "min", "max", "last"})
      .without_effect(kNoLatencies);
}

Result<StatOptions> StatFlags::finalize(Env& env, const Arguments& arguments, bool recording) {
  options_.count.output_to_stdout = recording && options_.output == "-";
  options_.count.to_file = recording;
  TRY(finalize_target(arguments));
  options_.count.interval_ms = interval_ms_.value_or(0);
  options_.count.interval_count = interval_count_.value_or(0);
  options_.count.timeout_ms = timeout_ms_.value_or(0);
  if (options_.separator == "\\t") options_.separator = "\t";
  options_.quotes_formulas = TRY(quotes_formulas(env));
  if (big_num_) options_.big_num = *big_num_;
  TRY(finalize_comparison(recording));
  TRY(refuse_conflicts(env, recording));
  if (topdown_level_ && !topdown_ && !options_.count.quiet)
    env.err.print("--td-level has no effect without --topdown\n");
  TRY(root_ports_ ? finalize_root_ports(env, recording) : finalize_events(env));
  return options_;
}

Result<> StatFlags::finalize_target(const Arguments& arguments) {
  TargetOptions& target = options_.count.target;
  target.command = arguments.words;
  bool per_thread = options_.grouping == view::CountGrouping::kThread;
  bool by_cpu = options_.grouping != view::CountGrouping::kAll && !per_thread;
  bool of_programs = !options_.count.bpf_programs.empty();
  if (of_programs && (target.has_task() || per_thread))
    return fail(ErrorCode::kUsage,
                "-b counts in BPF programs, whoever runs them: leave out -p, -t and --per-thread");
  if (!target.has_task() && !target.has_cpu() && (arguments.empty() || of_programs))
    target.all_cpus = true;
  if (per_thread && !target.has_task() && !target.all_cpus)
    return fail(ErrorCode::kUsage,
                "The --per-thread option is only available when monitoring via -p -t -a options "
                "or only --per-thread.");
  bool by_cgroup = !for_each_cgroup_.empty() || selection_.names_cgroups();
  if ((by_cpu || by_cgroup) && !target.has_cpu())
    return fail(ErrorCode::kUsage,
                "both cgroup and no-aggregation modes only available in system-wide mode");
  target.per_thread = per_thread;
  return {};
}

Result<> StatFlags::refuse_conflicts(const Env& env, bool recording) const {
  auto wrong = [](std::string_view text) { return fail(ErrorCode::kUsage, "{}", text); };
  if (!options_.output.empty() && options_.log_fd >= 0)
    return wrong("cannot use both --output and --log-fd");
  if (options_.log_fd < -1) return wrong("argument to --log-fd must be a > 0");
  if (options_.separator && big_num_.value_or(false))
    return wrong("-B option not supported with -x");
  if (options_.separator && options_.json != 0)
    return wrong("-x and -j are two output formats: choose one");
  if (options_.runs < 0) return wrong("Run count must be a positive number");
  if (options_.run_table && options_.runs < 2) return wrong("--table is only supported with -r");
  bool per_thread = options_.grouping == view::CountGrouping::kThread;
  if (options_.metric_only && per_thread)
    return wrong("--metric-only is not supported with --per-thread");
  if (options_.metric_only && options_.runs != 1)
    return wrong("--metric-only is not supported with -r");
  if (interval_count_ && options_.count.interval_ms == 0)
    return wrong("interval-count option should be used together with interval-print.");
  if (timeout_ms_ && *timeout_ms_ < kMinTimeoutMs) return wrong("timeout must be >= 10ms.");
  if (timeout_ms_ && options_.count.interval_ms > 0)
    return wrong("timeout option is not supported with interval-print.");
  bool to_terminal = options_.output.empty() && options_.log_fd < 0 && env.err.is_terminal();
  if (options_.interval_clear && !to_terminal)
    return wrong("--interval-clear does not work with output");
  if (!for_each_cgroup_.empty() && selection_.names_cgroups())
    return wrong("--cgroup and --for-each-cgroup cannot be used together");
  if (recording && options_.runs != 1)
    return fail(ErrorCode::kFailed, "Cannot use -r option with perf stat record.");
  if (recording && options_.grouping == view::CountGrouping::kCache)
    return fail(ErrorCode::kUnsupported,
                "A recording has no mode for --per-cache: record without it and pass it to report");
  if (recording && options_.grouping == view::CountGrouping::kCluster)
    return fail(
        ErrorCode::kUnsupported,
        "A recording does not say which CPUs form a cluster: --per-cluster only counts live");
  return {};
}

}  // namespace sonde
