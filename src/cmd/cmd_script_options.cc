#include "cmd/cmd_script_options.h"

#include "base/text.h"

namespace sonde {
namespace {

Result<> parse_list(std::string_view text, std::vector<uint32_t>& list) {
  for (std::string_view word : split(text, ',')) {
    auto dash = word.find('-');
    auto first = parse_number(word.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1));
    if (!first || !last || *last < *first || *last > UINT32_MAX || *last - *first > 65536)
      return fail(ErrorCode::kUsage, "expects numbers divided by commas, not '{}'", word);
    for (uint64_t i = *first; i <= *last; ++i) list.push_back(static_cast<uint32_t>(i));
  }
  return {};
}

auto words(std::vector<std::string>& list) {
  return [&list](std::string_view text) -> Result<> {
    for (std::string_view word : split(text, ','))
      if (!word.empty()) list.emplace_back(word);
    return {};
  };
}

auto numbers(std::vector<uint32_t>& list) {
  return [&list](std::string_view text) { return parse_list(text, list); };
}

void declare_lines(FlagTable& flags, ScriptOptions& o) {
  flags.call('F', "fields", "str",
             "comma separated output fields prepend with 'type:'. +field to add and -field to "
             "remove.Valid types: hw,sw,trace,raw,break,synth. Fields: "
             "comm,tid,pid,time,cpu,event,trace,ip,sym,dso,dsoff,addr,symoff,srcline,period,iregs,"
             "uregs,brstack,brstacksym,brstackoff,data_src,weight,bpf-output,phys_addr,misc,"
             "data_page_size,code_page_size,ins_lat,cgroup",
             [&o](std::string_view text) { return o.fields.apply(text, o.warnings); });
  flags.boolean('G', "hide-call-graph", o.hide_call_graph,
                "When printing symbols do not display call chain");
  flags.boolean('L', "Latency", o.latency_format,
                "show latency attributes (irqs/preemption disabled, etc)");
  flags.boolean(0, "ns", o.nanoseconds, "Use 9 decimal places when displaying time");
  flags.boolean(0, "reltime", o.relative_time, "Show time stamps relative to start");
  flags.boolean(0, "deltatime", o.delta_time, "Show time stamps relative to previous event");
  flags.number(0, "max-stack", o.max_stack, "n",
               "Set the maximum stack depth when printing the call chain. Default: 127");
  flags.call(0, "stop-bt", "symbol[,symbol...]", "Stop display of callgraph at these symbols",
             words(o.stop_backtrace_at));
  flags.boolean(0, "inline", o.inlines, "Show inline function");
  flags.boolean(0, "show-kernel-path", o.show_kernel_path, "Show the path of [kernel.kallsyms]");
  flags.boolean(0, "per-event-dump", o.per_event_dump,
                "Dump trace output to files named by the monitored events");
}

void declare_filters(FlagTable& flags, ScriptOptions& o) {
  flags.call('c', "comms", "comm[,comm...]", "only display events for these comms",
             words(o.items.comms));
  flags.call('S', "symbols", "symbol[,symbol...]", "only consider these symbols",
             words(o.items.symbols));
  flags.number(0, "addr-range", o.items.address_range, "n",
               "Use with -S to list traced records within address range");
  flags.call(0, "dsos", "dso[,dso...]", "only consider symbols in these DSOs", words(o.items.dsos));
  flags.call('C', "cpu", "cpu", "list of cpus to profile", numbers(o.items.cpus));
  flags.call(0, "pid", "pid[,pid...]", "only consider symbols in these pids", numbers(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only consider symbols in these tids", numbers(o.tids));
  flags.text(0, "time", o.time, "str", "Time span of interest (start,stop)");
  flags.text(0, "switch-on", o.switching.on, "event",
             "Consider events after the occurrence of this event");
  flags.text(0, "switch-off", o.switching.off, "event",
             "Stop considering events after the occurrence of this event");
  flags.boolean(0, "show-on-off-events", o.switching.show_switches,
                "Show the on/off switch events, used with --switch-on and --switch-off");
}

void declare_records(FlagTable& flags, RecordChoice& show) {
  flags.boolean(0, "show-task-events", show.tasks, "Show the fork/comm/exit events");
  flags.boolean(0, "show-mmap-events", show.mmaps, "Show the mmap events");
  flags.boolean(0, "show-switch-events", show.switches, "Show context switch events (if recorded)");
  flags.boolean(0, "show-namespace-events", show.namespaces, "Show namespace events (if recorded)");
  flags.boolean(0, "show-cgroup-events", show.cgroups, "Show cgroup events (if recorded)");
  flags.boolean(0, "show-bpf-events", show.bpf, "Show bpf related events (if recorded)");
  flags.boolean(0, "show-lost-events", show.lost, "Show lost events (if recorded)");
  flags.boolean(0, "show-text-poke-events", show.text_pokes,
                "Show text poke related events (if recorded)");
  flags.boolean(0, "show-round-events", show.rounds, "Show round events (if recorded)");
}

void declare_symbol_sources(FlagTable& flags, SymbolOptions& symbols) {
  flags.text('k', "vmlinux", symbols.vmlinux, "file", "vmlinux pathname");
  flags.text(0, "kallsyms", symbols.kallsyms, "file", "kallsyms pathname");
  flags.text(0, "symfs", symbols.symfs, "directory",
             "Look for files with symbols relative to this directory");
  flags.boolean(0, "demangle", symbols.demangle, "Enable symbol demangling");
  flags.boolean(0, "demangle-kernel", symbols.demangle_kernel, "Enable kernel symbol demangling");
  flags.boolean(0, "full-source-path", symbols.full_source_path,
                "Show full source file name path for source lines");
}

}  // namespace

void declare_script_flags(FlagTable& flags, ScriptOptions& o) {
  flags.usage("[<options>]");
  flags.text('i', "input", o.input, "file", "input file name");
  flags.boolean('f', "force", o.force, "don't complain, do it");
  declare_lines(flags, o);
  declare_filters(flags, o);
  declare_records(flags, o.items.records);
  flags.boolean(0, "header", o.header, "Show data header.");
  flags.boolean(0, "header-only", o.header_only, "Show only data header.");
  flags.boolean('I', "show-info", o.full_header,
                "display extended information from perf.data file");
  flags.boolean('D', "dump-raw-trace", o.dump, "dump raw trace in ASCII");
  flags.count('v', "verbose", o.verbose, "be more verbose (say where symbols come from)");
  declare_symbol_sources(flags, o.symbol_sources);
}

}  // namespace sonde
