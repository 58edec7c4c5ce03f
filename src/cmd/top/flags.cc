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
  flags.number('c', "count", sampling.period, "n", "take a sample every n events");
  flags.call('F', "freq", "freq or 'max'",
             "take so many samples per second of CPU time (default: 4000), or as many as the "
             "kernel allows (max)",
             frequency_into(sampling));
  flags.boolean('i', "no-inherit", sampling.no_inherit,
                "leave out the processes and threads that those which are watched start");
  flags.act('b', "branch-any",
            "a row for each branch: samples have the last branches taken before them",
            [&o]() -> Result<> {
              o.record.sampling.branch_types |= abi::kBranchAny;
              o.report.branch_stack = true;
              return {};
            });
  flags.call('j', "branch-filter", "branch filter mask",
             "a row for each branch of these kinds: any, any_call, any_ret, cond, ind_jmp, u, k …",
             [&o](std::string_view list) -> Result<> {
               o.record.sampling.branch_types |= TRY(parse_branch_types(list));
               o.report.branch_stack = true;
               return {};
             });
  flags.boolean(0, "group", sampling.group_all,
                "sample all events as one group, and show them side by side");
  flags.boolean(0, "overwrite", sampling.overwrite,
                "each screen shows the most recent samples, of a ring that overwrites older ones");
  flags.boolean(0, "namespaces", sampling.namespaces,
                "follow which namespaces tasks are in, for -s cgroup_id");
  flags.boolean(0, "all-cgroups", sampling.cgroups,
                "note the cgroup of each sample, for -s cgroup");
  flags.act(0, "no-bpf-event",
            "leave out BPF programs: those that are loaded, and those that will be",
            [&sampling]() -> Result<> {
              sampling.bpf_events = false;
              return {};
            });
}

void declare_target(FlagTable& flags, TopOptions& o) {
  TargetOptions& target = o.record.target;
  flags.boolean('a', "all-cpus", target.all_cpus, "watch whatever runs on any CPU (default)");
  flags.text('C', "cpu", target.cpus, "cpu", "watch whatever runs on these CPUs, such as 0,2-4");
  flags.text('p', "pid", target.pids, "pid",
             "watch these processes, which run already (ids, separated by commas)");
  flags.text('t', "tid", target.tids, "tid",
             "watch these threads, which run already (ids, separated by commas)");
  flags.text('u', "uid", target.user, "user",
             "watch what this user runs (name or id), also what is started later");
  flags.call('m', "mmap-pages", "pages",
             "size of each buffer for samples, in pages or with a unit (16M)",
             ring_pages_into(o.record.ring_pages));
  flags.number('r', "realtime", o.record.realtime_priority, "n",
               "give top this real-time priority (SCHED_FIFO)");
  flags.number(
      0, "proc-map-timeout", o.record.synthesis.map_timeout_ms, "n",
      "the most ms to spend on reading the mappings of a process that runs already (default: 500)");
  flags.number(0, "num-thread-synthesize", o.synthesis_threads, "n",
               "use at most n threads, to describe what runs already and for later work (default: "
               "one for each CPU)");
}

/// "fp,graph,0.5": how chains are recorded, then how they are shown; either may be omitted.
Result<> set_call_graph(std::string_view text, TopOptions& o) {
  std::vector<std::string_view> words = split(text, ',');
  size_t recording = 0;
  if (words[0] == "fp" || words[0] == "dwarf" || words[0] == "lbr" || words[0] == "bpf")
    recording = words.size() > 1 && words[0] != "lbr" && parse_number(words[1]) ? 2 : 1;
  std::string how, shown;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == 0 && recording > 0)
      how = words[0];
    else
      fmt::format_to(std::back_inserter(i < recording ? how : shown), "{}{}",
                     i < recording || !shown.empty() ? "," : "", words[i]);
  }
  if (how.empty())
    o.record.sampling.call_graph = CallGraphMode::kBest;
  else
    TRY(parse_call_graph(how, o.record.sampling, nullptr));
  if (!shown.empty()) TRY(report::parse_call_graph(shown, o.report.call_graph));
  return {};
}

void declare_rows(FlagTable& flags, TopOptions& o) {
  report::ReportOptions& r = o.report;
  flags.text('s', "sort", r.sort, "key[,key2...]",
             "a row for each combination of these: dso,sym (default), comm, pid, cpu, srcline …; "
             "`report -h sort` has all");
  flags.text(0, "fields", r.fields, "key[,keys...]",
             "the columns, from left to right: overhead, sample, period …, and what -s takes");
  flags.boolean('n', "show-nr-samples", r.show_samples, "add a column: how many samples");
  flags.boolean(0, "show-total-period", r.show_period,
                "add a column: the sum of the samples' periods");
  flags.act('g', "",
            "show who called what, found in the best way that works here: bpf, else dwarf, else fp "
            "(see record); call-graph.record-mode and --call-graph name another. Under the name "
            "perf: fp",
            [&o]() -> Result<> {
              if (o.record.sampling.call_graph == CallGraphMode::kNone)
                o.record.sampling.call_graph = CallGraphMode::kBest;
              return {};
            });
  flags.call(
      0, "call-graph",
      "record_mode[,record_size],print_type,threshold[,print_limit],order,sort_key",
      "show who called what: found by fp, dwarf, lbr or bpf (see record), then as for report -g",
      [&o](std::string_view text) { return set_call_graph(text, o); });
  flags.boolean(0, "stitch-lbr", r.stitch_lbr,
                "complete call stacks of --call-graph lbr by those of preceding samples");
  flags.number(
      0, "group-sort-idx", r.group_sort_index, "n",
      "sort the rows of a group by its event at index n; by the first one if there is none");
  flags.boolean(0, "children", r.children,
                "also count what the functions that a row's function calls take, in a column of "
                "its own (default)");
  flags.number(0, "max-stack", r.max_stack, "n",
               "ignore what is beyond this many functions of a call chain (default: 127)");
  flags.text(0, "ignore-callees", r.ignore_callees, "regex",
             "count what matching functions call as their own");
  flags.boolean(0, "hierarchy", r.hierarchy, "nest rows: a level for each key of -s");
  flags.boolean(0, "raw-trace", r.raw_trace,
                "show the fields of tracepoints as they are recorded, not the text that the kernel "
                "makes of them");
}

void declare_filters(FlagTable& flags, TopOptions& o) {
  report::ReportOptions& r = o.report;
  declare_names(flags, {}, r.comms, r.dsos, r.symbols);
  flags.boolean('K', "hide_kernel_symbols", o.hide_kernel, "leave out samples of the kernel");
  flags.boolean('U', "hide_user_symbols", o.hide_user, "leave out samples of user code");
  flags.boolean(0, "idle", o.show_idle,
                "also show functions in which CPUs wait for work (default: left out)");
  flags.number('f', "count-filter", o.least_samples, "n", "hide rows with fewer samples than this");
  flags.call(0, "percent-limit", "percent",
             "hide rows, and calls in call graphs, below this percentage",
             [&r](std::string_view word) { return report::set_percent_limit(r, word); });
  declare_gate(flags, r.gate);
  flags.call(
      0, "percentage", "relative|absolute",
      "shares are of all samples (absolute, the default) or of those that filters leave (relative)",
      relative_into(r.relative));
}

void declare_screen(FlagTable& flags, TopOptions& o) {
  flags.call('d', "delay", "n", "seconds from one screen to the next (default: 2, at least 0.1)",
             [&o](std::string_view text) -> Result<> {
               o.delay_s = TRY(number_from<double>(text));
               if (!(o.delay_s >= kMinDelay_s))
                 return fail(ErrorCode::kUsage, "-d: the shortest delay is {} s", kMinDelay_s);
               return {};
             });
  flags.number('E', "entries", o.entries, "n",
               "show at most n rows (default: all; as text, as many as the screen has room for)");
  flags.text(0, "sym-annotate", o.annotated, "symbol",
             "show the code of this function, with its recent samples");
  flags.boolean('D', "dump-symtab", o.dump_symbols,
                "at the end, print the objects that ran and their symbols to stderr");
  flags.boolean(
      'z', "zero", o.zero,
      "each screen has only the samples since the previous one (default: older ones fade)");
  flags.text('w', "column-widths", o.report.widths, "width[,width...]",
             "widths of the columns, from left to right (default: as wide as their values)");
  flags.act(0, "stdio", "print screens one after the other, instead of opening the browser",
            [&o]() -> Result<> {
              o.report.browser = false;
              return {};
            });
  flags.act(0, "tui", "open the browser (default on a terminal)", [&o]() -> Result<> {
    o.report.browser = true;
    return {};
  });
  flags.count('v', "verbose", o.report.verbose,
              "show full paths of objects, addresses, and where symbols come from");
  declare_symbol_sources(flags, o.report.symbol_sources);
  declare_guest_files(flags, o.report.symbol_sources.guests);
  declare_guest_sides(flags, o.record.guests.host, o.record.guests.guest);
  flags.boolean(0, "ignore-vmlinux", o.report.symbol_sources.ignore_vmlinux,
                "take the kernel's symbols from no vmlinux but that of -k");
  flags
      .boolean(0, "force", o.report.force,
               "read files even if they belong to another user (none is read)")
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
      .call(0, "objdump", "path", "path of objdump (not needed: code is decoded without it)",
            [](std::string_view) { return Result<>(); })
      .without_effect("code is disassembled without it");
}

}  // namespace sonde::top
