#include "cmd/top/flags.h"

#include "base/text.h"
#include "capture/recorders/capture_values.h"
#include "cli/refused_options.h"
#include "cmd/options/call_graph_option.h"
#include "cmd/options/event_selection_flags.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/listing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"
#include "event/parser/event_branch.h"
#include "top/by.h"

namespace sonde::top {
namespace {

void declare_events(FlagTable& flags, TopOptions& o) {
  SamplingOptions& sampling = o.record.sampling;
  declare_event_selection(flags, o.selection);
  flags.call(
      0, "by", "event[:field]",
      "every occurrence of an event, by a value of it: a field of a tracepoint or probe, or "
      "any sort key (default: comm). Once more for another field of the same event",
      [&o](std::string_view text) -> Result<> {
        o.selection.then([&o, by = std::string(text)](EventSelection::Chosen& chosen, Env& env) {
          return add_by(o, by, chosen, env);
        });
        return {};
      });
  flags.number('c', "count", sampling.period, "n", "event period to sample");
  flags.call('F', "freq", "freq or 'max'", "profile at this frequency", frequency_into(sampling));
  flags.boolean('i', "no-inherit", sampling.no_inherit, "child tasks do not inherit counters");
  flags.act('b', "branch-any", "sample any taken branches", [&o]() -> Result<> {
    o.record.sampling.branch_types |= abi::kBranchAny;
    o.report.branch_stack = true;
    return {};
  });
  flags.call('j', "branch-filter", "branch filter mask", "branch stack filter modes",
             [&o](std::string_view list) -> Result<> {
               o.record.sampling.branch_types |= TRY(parse_branch_types(list));
               o.report.branch_stack = true;
               return {};
             });
  flags.boolean(0, "group", sampling.group_all,
                "put the counters into a counter group; its events are shown side by side");
  flags.boolean(0, "overwrite", sampling.overwrite,
                "each screen shows the most recent samples, of a ring that overwrites older ones");
  flags.boolean(0, "namespaces", sampling.namespaces, "Record namespaces events");
  flags.boolean(0, "all-cgroups", sampling.cgroups, "Record cgroup events");
  flags.act(0, "no-bpf-event", "do not record bpf events", [&sampling]() -> Result<> {
    sampling.bpf_events = false;
    return {};
  });
}

void declare_target(FlagTable& flags, TopOptions& o) {
  TargetOptions& target = o.record.target;
  flags.boolean('a', "all-cpus", target.all_cpus, "system-wide collection from all CPUs");
  flags.text('C', "cpu", target.cpus, "cpu", "list of cpus to monitor");
  flags.text('p', "pid", target.pids, "pid", "profile events on existing process id");
  flags.text('t', "tid", target.tids, "tid", "profile events on existing thread id");
  flags.text('u', "uid", target.user, "user", "user to profile");
  flags.call('m', "mmap-pages", "pages", "number of mmap data pages",
             ring_pages_into(o.record.ring_pages));
  flags.number('r', "realtime", o.record.realtime_priority, "n",
               "collect data with this RT SCHED_FIFO priority");
  flags.number(0, "proc-map-timeout", o.record.synthesis.map_timeout_ms, "n",
               "per thread proc mmap processing timeout in ms");
  flags.number(0, "num-thread-synthesize", o.synthesis_threads, "n",
               "number of thread to run event synthesize");
}

/// "fp,graph,0.5": how chains are recorded, then how they are shown; either may be omitted.
Result<> set_call_graph(std::string_view text, TopOptions& o) {
  std::vector<std::string_view> words = split(text, ',');
  size_t recording = 0;
  if (words[0] == "fp" || words[0] == "dwarf" || words[0] == "lbr" || words[0] == "bpf")
    recording = words.size() > 1 && words[0] != "lbr" && parse_number(words[1]) ? 2 : 1;
  std::string how = "fp", shown;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == 0 && recording > 0)
      how = words[0];
    else
      fmt::format_to(std::back_inserter(i < recording ? how : shown), "{}{}",
                     i < recording || !shown.empty() ? "," : "", words[i]);
  }
  TRY(parse_call_graph(how, o.record.sampling, nullptr));
  if (!shown.empty()) TRY(report::parse_call_graph(shown, o.report.call_graph));
  return {};
}

void declare_rows(FlagTable& flags, TopOptions& o) {
  report::ReportOptions& r = o.report;
  flags.text('s', "sort", r.sort, "key[,key2...]",
             "sort by key(s): pid, comm, dso, symbol, parent, cpu, srcline, ... Please refer the "
             "man page for the complete list.");
  flags.text(0, "fields", r.fields, "key[,keys...]",
             "output field(s): overhead, period, sample plus all of sort keys");
  flags.boolean('n', "show-nr-samples", r.show_samples, "Show a column with the number of samples");
  flags.boolean(0, "show-total-period", r.show_period, "Show a column with the sum of periods");
  flags.act('g', "", "enables call-graph recording and display", [&o]() -> Result<> {
    if (o.record.sampling.call_graph == CallGraphMode::kNone)
      o.record.sampling.call_graph = CallGraphMode::kFramePointer;
    return {};
  });
  flags.call(0, "call-graph",
             "record_mode[,record_size],print_type,threshold[,print_limit],order,sort_key",
             "setup and enables call-graph (stack chain/backtrace): fp, dwarf, lbr or bpf, then as "
             "report's -g",
             [&o](std::string_view text) { return set_call_graph(text, o); });
  flags.boolean(0, "stitch-lbr", r.stitch_lbr,
                "complete call stacks of --call-graph lbr by those of preceding samples");
  flags.number(
      0, "group-sort-idx", r.group_sort_index, "n",
      "sort the rows of a group by its event at index n; by the first one if there is none");
  flags.boolean(0, "children", r.children,
                "Accumulate callchains of children and show total overhead as well");
  flags.number(0, "max-stack", r.max_stack, "n",
               "Set the maximum stack depth when parsing the callchain.");
  flags.text(0, "ignore-callees", r.ignore_callees, "regex",
             "ignore callees of these functions in call graphs");
  flags.boolean(0, "hierarchy", r.hierarchy, "Show entries in a hierarchy");
  flags.boolean(0, "raw-trace", r.raw_trace,
                "Show raw trace event output (do not use print fmt or plugins)");
}

void declare_filters(FlagTable& flags, TopOptions& o) {
  report::ReportOptions& r = o.report;
  declare_names(flags, {}, r.comms, r.dsos, r.symbols);
  flags.boolean('K', "hide_kernel_symbols", o.hide_kernel, "hide kernel symbols");
  flags.boolean('U', "hide_user_symbols", o.hide_user, "hide user symbols");
  flags.boolean(0, "idle", o.show_idle,
                "also show functions in which CPUs wait for work (default: left out)");
  flags.number('f', "count-filter", o.least_samples, "n",
               "only display functions with more events than this");
  flags.call(0, "percent-limit", "percent", "Don't show entries under that percent",
             [&r](std::string_view word) { return report::set_percent_limit(r, word); });
  declare_gate(flags, r.gate);
  flags.call(0, "percentage", "relative|absolute", "How to display percentage of filtered entries",
             relative_into(r.relative));
}

void declare_screen(FlagTable& flags, TopOptions& o) {
  flags.call('d', "delay", "n", "number of seconds to delay between refreshes",
             [&o](std::string_view text) -> Result<> {
               o.delay_s = TRY(number_from<double>(text));
               if (!(o.delay_s >= kMinDelay_s))
                 return fail(ErrorCode::kUsage, "-d: the shortest delay is {} s", kMinDelay_s);
               return {};
             });
  flags.number('E', "entries", o.entries, "n", "display this many functions");
  flags.text(0, "sym-annotate", o.annotated, "symbol",
             "show the code of this function, with its recent samples");
  flags.boolean('D', "dump-symtab", o.dump_symbols,
                "at the end, print the objects that ran and their symbols to stderr");
  flags.boolean('z', "zero", o.zero, "zero history across updates");
  flags.text('w', "column-widths", o.report.widths, "width[,width...]",
             "don't try to adjust column width, use these fixed values");
  flags.act(0, "stdio", "Use the stdio interface", [&o]() -> Result<> {
    o.report.browser = false;
    return {};
  });
  flags.act(0, "tui", "Use the TUI interface", [&o]() -> Result<> {
    o.report.browser = true;
    return {};
  });
  flags.count('v', "verbose", o.report.verbose, "be more verbose (show symbol address, etc)");
  declare_symbol_sources(flags, o.report.symbol_sources);
  declare_guest_files(flags, o.report.symbol_sources.guests);
  declare_guest_sides(flags, o.record.guests.host, o.record.guests.guest);
  flags.boolean(0, "ignore-vmlinux", o.report.symbol_sources.ignore_vmlinux,
                "don't load vmlinux even if found");
  flags.boolean(0, "force", o.report.force, "don't complain, do it")
      .without_effect("no file is opened whose owner could matter");
}

constexpr RefusedOption kTopRefuses[] = {
    {0, "branch-history", nullptr, "add the last branches to call graphs",
     "branches become part of call chains in recordings: record -b -g, report --branch-history"},
};

}  // namespace

void declare_flags(FlagTable& flags, TopOptions& o) {
  declare_events(flags, o);
  declare_target(flags, o);
  declare_rows(flags, o);
  declare_filters(flags, o);
  declare_screen(flags, o);
  declare_listing(flags, o.report.code);
  declare_refused(flags, kTopRefuses);
  flags
      .call(0, "objdump", "path", "objdump binary to use for disassembly and annotations",
            [](std::string_view) { return Result<>(); })
      .without_effect("code is disassembled without it");
}

}  // namespace sonde::top
