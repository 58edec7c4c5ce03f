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
            "count the PCIe traffic of root ports: all, or those given (0000:17,0:3a); list shows "
            "their names")
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
  flags.text(0, "for-each-cgroup", for_each_cgroup_, "name",
             "with -a or -C: count every event in each of these cgroups (names, or regular "
             "expressions for them)");
  flags.boolean(
      0, "bpf-counters", options_.count.bpf_counters,
      "count by one BPF program at context switches, instead of by counters for each task");
  flags.text(0, "bpf-attr-map", options_.count.bpf_attr_map, "attr-map-path",
             "BPF map in which tools find each other's counters of --bpf-counters (default: "
             "/sys/fs/bpf/perf_attr_map)");
  flags.boolean('g', "group", options_.count.group_all,
                "count all events as one group: all of them at the same times");
  flags.boolean('n', "null", null_run_, "count no events, only measure how long the command takes");
  flags.count('d', "detailed", detail_,
              "also count loads from the L1 and last-level caches; -dd: instruction cache and "
              "TLBs, too; -ddd: prefetches");
  flags.boolean('T', "transaction", transaction_,
                "count hardware transactions (TSX): how many begin, and the cycles spent in them");
  flags.boolean(0, "all-kernel", options_.count.all_kernel,
                "count only in kernel mode, whatever the events' modifiers say");
  flags.boolean(0, "all-user", options_.count.all_user,
                "count only in user mode, whatever the events' modifiers say");
  flags.text(
      0, "cputype", core_kind_, "hybrid cpu type",
      "of events that both kinds of cores have, count only those of this kind: core or atom");
  flags.text(0, "pmu-filter", pmu_filter_, "pmu", "leave out events of other PMUs than this one");
}

void StatFlags::declare_targets(FlagTable& flags) {
  TargetOptions& target = options_.count.target;
  flags.boolean(
      'a', "all-cpus", target.all_cpus,
      "count whatever runs on any CPU (default if neither a command nor a process is given)");
  flags.text('C', "cpu", target.cpus, "cpu", "count whatever runs on these CPUs, such as 0,2-4");
  flags.text('p', "pid", target.pids, "pid",
             "count in these processes, which run already (ids, separated by commas)");
  flags.text('t', "tid", target.tids, "tid",
             "count in these threads, which run already (ids, separated by commas)");
  flags.call(
      'b', "bpf-prog", "bpf-prog-id",
      "count while these loaded BPF programs run, whoever runs them (ids, separated by commas)",
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
                "leave out the processes and threads that those which are measured start");
}

void StatFlags::declare_grouping(FlagTable& flags) {
  using view::CountGrouping;
  declare_unit_flags(flags, options_.grouping);
  flags.choose(0, "per-cluster", options_.grouping, CountGrouping::kCluster,
               "a row for each cluster of CPUs");
  flags.choose(0, "per-thread", options_.grouping, CountGrouping::kThread, "a row for each thread");
  flags.boolean(0, "percore-show-thread", options_.percore_show_thread,
                "with -A: show what a whole core counted for an event with the term percore beside "
                "each of its CPUs");
  flags.boolean(0, "no-merge", options_.no_merge,
                "a row for each PMU that an event was counted on, instead of their sum");
  flags.boolean(
      0, "hybrid-merge", options_.hybrid_merge,
      "add up what an event counted on the two kinds of cores, instead of a row for each");
  flags.boolean(0, "scale", options_.scale,
                "extrapolate the counts of events that took turns on the hardware (default; "
                "--no-scale: show them raw)");
}

void StatFlags::declare_output(FlagTable& flags) {
  flags.text(
      'x', "field-separator", options_.separator, "separator",
      "separate the values of a line by this, and align nothing: CSV, for programs (\\t is a tab)");
  flags
      .act('j', "json-output", "print JSON, an object per line; same as --json=1",
           [this]() -> Result<> {
             options_.json = 1;
             return {};
           })
      .no_negation();
  flags
      .call(0, "json", "1|2",
            "print JSON: 1 is an object per line, with counts as text; 2 a document with numbers "
            "and each run",
            [this](std::string_view text) -> Result<> {
              if (text != "1" && text != "2" && text != "v2")
                return fail(ErrorCode::kUsage, "expects 1 or 2");
              options_.json = text == "1" ? 1 : 2;
              return {};
            })
      .when_bare("1");
  flags.boolean('B', "big-num", big_num_,
                "separate thousands in large numbers, as the locale does (default)");
  flags.text('o', "output", options_.output, "file",
             "write to this file (default: standard error; stat record: perf.data)");
  flags.boolean(0, "append", options_.append,
                "with -o: add to the end of the file, instead of replacing it");
  flags.number(0, "log-fd", options_.log_fd, "n",
               "write to this open file descriptor, instead of standard error");
  flags.boolean(0, "table", options_.run_table, "with -r: also show how long each run took");
  flags.boolean(0, "metric-only", options_.metric_only,
                "show only what is computed from the counts, in columns, and no counts");
  flags.boolean(0, "summary", options_.summary,
                "with -I: also show the sums of all intervals at the end");
  flags
      .act(0, "no-csv-summary",
           "with -I, -x and --summary: do not begin the lines of the sums with the word summary",
           [this]() -> Result<> {
             options_.csv_summary_column = false;
             return {};
           })
      .no_negation();
  flags.boolean(0, "quiet", options_.count.quiet,
                "print neither counts nor messages; stat record still writes its file");
  flags.count('v', "verbose", options_.count.verbose,
              "also say which events cannot be counted, and print raw counts with their times; "
              "-vv: attributes of events");
}

void StatFlags::declare_run(FlagTable& flags) {
  flags.number('r', "repeat", runs_, "n",
               "run the command n times, and show means and their errors (default: 1, in "
               "comparisons 20; 0: until Ctrl-C)");
  flags.text(0, "pre", options_.pre, "command",
             "shell command to run before each run; it is not measured");
  flags.text(0, "post", options_.post, "command",
             "shell command to run after each run; it is not measured");
  flags.boolean('S', "sync", options_.sync,
                "write all cached data to the disks before each run (sync)");
  flags.number(
      'I', "interval-print", interval_ms_, "n",
      "show what was counted every n ms; below 100 ms, that takes a noticeable part of the time");
  flags.number(0, "interval-count", interval_count_, "n",
               "with -I: show n intervals, then end, or wait for the end of the command");
  flags.boolean(0, "interval-clear", options_.interval_clear,
                "with -I, on a terminal: show each interval on an empty screen");
  flags.number(0, "timeout", timeout_ms_, "n",
               "end the command or the measurement after n ms (at least 10), and show the counts");
  flags.call('D', "delay", "n",
             "begin to count n ms after the start (-1: when --control says so); 10-20,30-40: count "
             "in these ranges of ms",
             [this](std::string_view text) -> Result<> {
               options_.count.delay = TRY(parse_delay(text));
               return {};
             });
  flags.call(0, "control", "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
             "obey lines from there: enable, disable, evlist, ping, stop; answer ack to the second "
             "one, if given",
             [this](std::string_view text) -> Result<> {
               options_.count.control = TRY(parse_control(text));
               return {};
             });
}

void StatFlags::declare_metrics(FlagTable& flags) {
  flags.call('M', "metrics", "metric/metric group list",
             "count what these metrics, or groups of metrics, need (separated by commas), and show "
             "no others",
             [this](std::string_view text) -> Result<> {
               selection_.then([this, list = std::string(text)](auto&, Env& env) {
                 return add_metrics(list, env);
               });
               return {};
             });
  flags.boolean(0, "metric-no-group", metric_no_group_,
                "with -M: count the events of a metric one by one, not as a group; they may then "
                "count at different times");
  flags.boolean(0, "metric-no-merge", metric_no_merge_,
                "with -M: count the events of each metric separately, even if another metric "
                "counts them, too");
  flags
      .act(0, "metric-no-threshold",
           "with -M: count no further events for thresholds (none are counted in any case)",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect("no events are added for thresholds");
  flags.boolean(0, "topdown", topdown_,
                "show where the processor's issue slots went: retired, wrong speculation, waits "
                "for the front or back end");
  flags.number(0, "td-level", topdown_level_, "n",
               "how detailed --topdown is: 1, or 0 for the most detailed, which is 1 here");
  flags.boolean(0, "smi-cost", smi_cost_,
                "show how many system management interrupts (SMI) there were, and the share of "
                "cycles that they took");
  constexpr const char* kNoLatencies =
      "retire latencies are sampled for events with the modifier R alone, which needs Timed PEBS "
      "(Granite Rapids and later); no event here takes it";
  flags
      .act(0, "record-tpebs",
           "no effect: retire latencies are sampled for events with the modifier R alone, and no "
           "event here takes it",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect(kNoLatencies);
  flags
      .call(0, "tpebs-mode", "mean|min|max|last",
            "no effect: chooses among sampled retire latencies, and none are sampled",
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
    return fail(
        ErrorCode::kUsage,
        "--per-thread shows threads that run already: give -p, -t or -a, or leave out the command");
  bool by_cgroup = !for_each_cgroup_.empty() || selection_.names_cgroups();
  if ((by_cpu || by_cgroup) && !target.has_cpu())
    return fail(ErrorCode::kUsage,
                "-A, --per-core and the like, -G and --for-each-cgroup need counts of CPUs: give "
                "-a or -C, too");
  target.per_thread = per_thread;
  return {};
}

Result<> StatFlags::refuse_conflicts(const Env& env, bool recording) const {
  auto wrong = [](std::string_view text) { return fail(ErrorCode::kUsage, "{}", text); };
  if (!options_.output.empty() && options_.log_fd)
    return wrong("-o and --log-fd both say where the counts go: give one of them");
  if (options_.log_fd.value_or(0) < 0)
    return wrong("--log-fd expects the number of an open file descriptor: 0 or more");
  if (options_.separator && big_num_.value_or(false))
    return wrong(
        "-B separates thousands for readers, -x prints values for programs: leave out one of them");
  if (options_.separator && options_.json != 0)
    return wrong("-x and -j are two output formats: choose one");
  if (options_.runs < 0)
    return wrong("-r expects how often to run the command, or 0 to repeat it until Ctrl-C");
  if (options_.run_table && options_.runs < 2)
    return wrong("--table shows the times of several runs: give -r 2 or more, too");
  bool per_thread = options_.grouping == view::CountGrouping::kThread;
  if (options_.metric_only && per_thread)
    return wrong(
        "--metric-only has no rows of threads: leave out one of --metric-only and --per-thread");
  if (options_.metric_only && options_.runs != 1)
    return wrong("--metric-only shows a single run: leave out --metric-only, or -r and --save");
  if (interval_count_ && options_.count.interval_ms == 0)
    return wrong("--interval-count limits the intervals of -I: give -I, too");
  if (timeout_ms_ && *timeout_ms_ < kMinTimeoutMs) return wrong("--timeout: the shortest is 10 ms");
  if (timeout_ms_ && options_.count.interval_ms > 0)
    return wrong("--timeout ends a measurement without intervals: with -I, use --interval-count");
  bool to_terminal = options_.output.empty() && !options_.log_fd && env.err.is_terminal();
  if (options_.interval_clear && !to_terminal)
    return wrong("--interval-clear clears a terminal: leave it out, or -o and --log-fd");
  if (!for_each_cgroup_.empty() && selection_.names_cgroups())
    return wrong("-G and --for-each-cgroup both choose the cgroups of events: give one of them");
  if (recording && options_.runs != 1)
    return fail(ErrorCode::kFailed, "stat record keeps the counts of one run: leave out -r");
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
