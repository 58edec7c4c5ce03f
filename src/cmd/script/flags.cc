#include "cmd/script/flags.h"

#include "base/text.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"

namespace sonde {
namespace {

void declare_lines(FlagTable& flags, ScriptOptions& o) {
  flags.call('F', "fields", "str",
             "comma separated output fields prepend with 'type:'. +field to add and -field to "
             "remove.Valid types: hw,sw,trace,raw,break,synth. Fields: "
             "comm,tid,pid,time,cpu,event,trace,ip,sym,dso,dsoff,addr,symoff,srcline,period,iregs,"
             "uregs,brstack,brstacksym,brstackoff,data_src,weight,bpf-output,phys_addr,misc,"
             "data_page_size,code_page_size,ins_lat,cgroup,flags,insn,disasm,insnlen,brstackinsn,"
             "brstackinsnlen,brstackdisasm,brcntr,srccode,tod",
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
             words_into(o.stop_backtrace_at));
  flags.boolean(0, "inline", o.inlines, "Show inline function");
  flags.boolean(0, "show-kernel-path", o.show_kernel_path, "Show the path of [kernel.kallsyms]");
  flags.number(0, "max-blocks", o.max_blocks, "n",
               "Maximum number of code blocks to dump with brstackinsn");
  flags.boolean(0, "stitch-lbr", o.stitch_lbr, "Enable LBR callgraph stitching approach");
  flags.boolean(0, "per-event-dump", o.per_event_dump,
                "Dump trace output to files named by the monitored events");
}

void declare_filters(FlagTable& flags, ScriptOptions& o) {
  flags.call('c', "comms", "comm[,comm...]", "only display events for these comms",
             words_into(o.items.comms));
  flags.call('S', "symbols", "symbol[,symbol...]", "only consider these symbols",
             words_into(o.items.symbols));
  flags.number(0, "addr-range", o.items.address_range, "n",
               "Use with -S to list traced records within address range");
  flags.call(0, "dsos", "dso[,dso...]", "only consider symbols in these DSOs",
             words_into(o.items.dsos));
  flags.call('C', "cpu", "cpu", "list of cpus to profile", numbers_into(o.items.cpus));
  flags.call(0, "pid", "pid[,pid...]", "only consider symbols in these pids", numbers_into(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only consider symbols in these tids", numbers_into(o.tids));
  flags.text(0, "time", o.time, "str", "Time span of interest (start,stop)");
  declare_gate(flags, o.gate);
  flags.text(0, "dlfilter", o.dlfilter, "file", "filter .so file name");
  flags.call(0, "dlarg", "argument", "filter argument",
             [&o](std::string_view argument) -> Result<> {
               o.dlfilter_arguments.emplace_back(argument);
               return {};
             });
  flags.boolean(0, "list-dlfilters", o.list_dlfilters, "list available dlfilters");
}

void declare_records(FlagTable& flags, RecordFilter& show) {
  flags.boolean(0, "show-task-events", show.tasks, "Show the fork/comm/exit events");
  flags.boolean(0, "show-mmap-events", show.mmaps, "Show the mmap events");
  flags.boolean(0, "show-switch-events", show.switches, "Show context switch events (if recorded)");
  flags.boolean(0, "show-namespace-events", show.namespaces, "Show namespace events (if recorded)");
  flags.boolean(0, "show-cgroup-events", show.cgroups, "Show cgroup events (if recorded)");
  flags.boolean(0, "show-bpf-events", show.bpf, "Show bpf related events (if recorded)");
  flags.boolean(0, "show-lost-events", show.lost, "Show lost events (if recorded)");
  flags.boolean(0, "show-text-poke-events", show.text_pokes,
                "Show text poke related events (if recorded)");
  flags.boolean(0, "merge-callchains", show.merge_chains,
                "Enable merging deferred user callchains if available. Enabled by default, use "
                "--no-merge-callchains to see them as recorded");
  flags.boolean(0, "show-round-events", show.rounds, "Show round events (if recorded)");
}

/// All instructions of a trace. Without a trace it is short for the fields that it shows.
Result<> show_instructions(std::string_view how, ScriptOptions& o) {
  if (!how.empty() && how != "raw" && how != "disasm")
    return fail(ErrorCode::kUsage, "Only accept raw|disasm");
  o.nanoseconds = true;
  if (!o.itrace) o.itrace = TRY(parse_itrace("i0ns", ItraceDefaults::kScript));
  return o.fields.apply(how == "disasm" ? "+disasm,-event,-period" : "+insn,-event,-period",
                        o.warnings);
}

/// Calls as an indented list, with the returns on request.
Result<> show_calls(bool with_returns, ScriptOptions& o) {
  o.nanoseconds = true;
  if (!with_returns) o.pads_objects = true;
  if (!o.itrace) {
    o.itrace = TRY(parse_itrace(with_returns ? "cre" : "ce", ItraceDefaults::kScript));
  }
  return o.fields.apply(with_returns ? "-ip,-addr,-event,-period,+flags,+callindent"
                                     : "-ip,-addr,-event,-period,+callindent",
                        o.warnings);
}

}  // namespace

void declare_script_flags(FlagTable& flags, ScriptOptions& o) {
  flags.usage("[<options>]")
      .usage("[<options>] record <script> [<record-options>] <command>")
      .usage("[<options>] report <script> [script-args]")
      .usage("[<options>] <script> [<record-options>] <command>")
      .usage("[<options>] <top-script> [script-args]")
      .stop_at_first_word();
  flags.boolean('l', "list", o.list_scripts, "list available scripts");
  flags.text('g', "gen-script", o.generated_language, "lang",
             "generate a script in specified language (python): perf-script.py");
  flags.text('s', "script", o.script, "name",
             "script file name (lang:script name, or script name)");
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
  flags.act(0, "dump-unsorted-raw-trace", "dump unsorted raw trace in ASCII", [&o]() -> Result<> {
    o.dump = o.dump_in_file_order = true;
    return {};
  });
  flags
      .call(0, "insn-trace", "raw|disasm",
            "Show traced or sampled instructions, as bytes or as text",
            [&o](std::string_view how) { return show_instructions(how, o); })
      .when_bare("");
  flags.boolean(
      0, "xed", o.disassembles,
      "Show the text of instructions instead of their bytes (Sonde's own; the tool xed is "
      "not run)");
  flags.act(0, "call-trace", "Decode calls from itrace", [&o] { return show_calls(false, o); });
  flags.act(0, "call-ret-trace", "Decode calls and returns from itrace",
            [&o] { return show_calls(true, o); });
  flags.call(0, "graph-function", "symbol[,symbol...]",
             "Only print symbols and callees with --call-trace/--call-ret-trace",
             words_into(o.graph_functions));
  declare_itrace(flags, ItraceDefaults::kScript, o.itrace);
  flags.count('v', "verbose", o.verbose, "be more verbose (show where symbols come from)");
  declare_symbol_sources(flags, o.symbol_sources);
  declare_guest_files(flags, o.symbol_sources.guests);
  declare_unwind_style(flags);
  auto nothing = [] { return Result<>(); };
  flags
      .call(0, "addr2line", "path", "addr2line binary to use for line numbers",
            [](std::string_view) { return Result<>(); })
      .without_effect("line numbers are read without it");
  flags.act('a', "all-cpus", "system-wide collection from all CPUs", nothing)
      .without_effect("scripts that are run by name record everything if no command follows");
  flags.boolean('d', "debug-mode", o.checks_order,
                "Show no lines, but how many records came too late to be put in order");
}

}  // namespace sonde
