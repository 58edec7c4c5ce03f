#include "cmd/script/flags.h"

#include "base/text.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"

namespace sonde {
namespace {

void declare_lines(FlagTable& flags, ScriptOptions& o) {
  flags.call(
      'F', "fields", "str",
      "fields of a line: FIELD,...; +FIELD and -FIELD change what is usual; TYPE:FIELD,... is for "
      "events of one type: hw, sw, trace, raw, break, synth. Fields: "
      "comm,tid,pid,time,cpu,event,trace,ip,sym,dso,dsoff,addr,symoff,srcline,period,iregs,uregs,"
      "brstack,brstacksym,brstackoff,data_src,weight,bpf-output,phys_addr,misc,data_page_size,"
      "code_page_size,ins_lat,cgroup,flags,insn,disasm,insnlen,brstackinsn,brstackinsnlen,"
      "brstackdisasm,brcntr,srccode,tod,callindent,ipc,synth,machine_pid,vcpu",
      [&o](std::string_view text) { return o.fields.apply(text, o.warnings); });
  flags.boolean('G', "hide-call-graph", o.hide_call_graph, "leave out call chains");
  flags.boolean('L', "Latency", o.latency_format,
                "narrow columns of names (8 characters) and CPUs");
  flags.boolean(0, "ns", o.nanoseconds, "show times in nanoseconds, instead of microseconds");
  flags.boolean(0, "reltime", o.relative_time, "show times since the first event");
  flags.boolean(0, "deltatime", o.delta_time, "show times since the previous event");
  flags.number(0, "max-stack", o.max_stack, "n", "functions of a call chain to show (127)");
  flags.call(0, "stop-bt", "symbol[,symbol...]", "end call chains at these functions",
             words_into(o.stop_backtrace_at));
  flags.boolean(0, "inline", o.inlines,
                "show inlined functions as frames (default: only of unwound call chains)");
  flags.boolean(0, "show-kernel-path", o.show_kernel_path,
                "show modules of the kernel by their paths, also those without a build id");
  flags.number(
      0, "max-blocks", o.max_blocks, "n",
      "show only this many of a branch stack's newest blocks of code (brstackinsn, brstackdisasm)");
  flags.boolean(0, "stitch-lbr", o.stitch_lbr,
                "complete call chains of --call-graph lbr from those of earlier samples");
  flags.boolean(0, "per-event-dump", o.per_event_dump,
                "write each event's lines to a file of its own, INPUT.EVENT.dump");
}

void declare_filters(FlagTable& flags, ScriptOptions& o) {
  flags.call('c', "comms", "comm[,comm...]", "only threads with these names",
             words_into(o.items.comms));
  flags.call('S', "symbols", "symbol[,symbol...]",
             "only samples in these functions, or at these addresses (in hex)",
             words_into(o.items.symbols));
  flags.number(0, "addr-range", o.items.address_range, "n",
               "with -S: also samples up to this many bytes after its addresses");
  flags.call(0, "dsos", "dso[,dso...]", "only samples in these objects", words_into(o.items.dsos));
  flags.call('C', "cpu", "cpu", "only these CPUs", numbers_into(o.items.cpus));
  flags.call(0, "pid", "pid[,pid...]", "only these processes", numbers_into(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only these threads", numbers_into(o.tids));
  flags.text(0, "time", o.time, "str",
             "only this span: start,stop in seconds, or shares of the recording such as 10%-20%");
  declare_gate(flags, o.gate);
  flags.text(0, "dlfilter", o.dlfilter, "file",
             "library that chooses among samples (.so); see --list-dlfilters");
  flags.call(0, "dlarg", "argument",
             "argument for the library of --dlfilter; may be given several times",
             [&o](std::string_view argument) -> Result<> {
               o.dlfilter_arguments.emplace_back(argument);
               return {};
             });
  flags.boolean(0, "list-dlfilters", o.list_dlfilters,
                "list the libraries that --dlfilter finds by name");
}

void declare_records(FlagTable& flags, RecordFilter& show) {
  flags.boolean(0, "show-task-events", show.tasks,
                "also a line when a task starts, ends, or changes its name");
  flags.boolean(0, "show-mmap-events", show.mmaps, "also a line per mapping");
  flags.boolean(0, "show-switch-events", show.switches,
                "also a line per context switch (record --switch-events)");
  flags.boolean(0, "show-namespace-events", show.namespaces,
                "also a line per change of namespaces (record --namespaces)");
  flags.boolean(0, "show-cgroup-events", show.cgroups,
                "also a line per cgroup (record --all-cgroups)");
  flags.boolean(0, "show-bpf-events", show.bpf,
                "also a line per BPF program, and per symbol that the kernel gains or loses");
  flags.boolean(0, "show-lost-events", show.lost, "also a line where events were lost");
  flags.boolean(0, "show-text-poke-events", show.text_pokes,
                "also a line where the kernel changed its own code");
  flags.boolean(0, "merge-callchains", show.merge_chains,
                "join call chains to their user part that was recorded later (the default); "
                "--no-merge-callchains shows both as recorded");
  flags.boolean(
      0, "show-round-events", show.rounds,
      "also a line per round of the recorder (FINISHED_ROUND), with everything in file order");
}

/// All instructions of a trace. Without a trace it is short for the fields that it shows.
Result<> show_instructions(std::string_view how, ScriptOptions& o) {
  if (!how.empty() && how != "raw" && how != "disasm")
    return fail(ErrorCode::kUsage, "expects raw or disasm");
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
  flags.boolean('l', "list", o.list_scripts, "list the scripts that can be run by name");
  flags.text(
      'g', "gen-script", o.generated_language, "lang",
      "write a script for the events of the recording, perf-script.py; the language is python");
  flags.text('s', "script", o.script, "name",
             "give the samples to this script in Python: a file or a name, also as python:NAME");
  flags.text('i', "input", o.input, "file",
             "recording to read (default: standard input if that is a pipe, else perf.data)");
  flags.boolean('f', "force", o.force, "read the recording even if another user owns it");
  declare_lines(flags, o);
  declare_filters(flags, o);
  declare_records(flags, o.items.records);
  flags.boolean(0, "header", o.header, "show the header of the recording, then lines");
  flags.boolean(0, "header-only", o.header_only,
                "show the header of the recording, and nothing else");
  flags.boolean('I', "show-info", o.full_header,
                "with --header: also the topology of CPUs and of memory");
  flags.boolean('D', "dump-raw-trace", o.dump, "print every record, instead of a line per sample");
  flags.act(0, "dump-unsorted-raw-trace", "same as -D, in file order", [&o]() -> Result<> {
    o.dump = o.dump_in_file_order = true;
    return {};
  });
  flags
      .call(0, "insn-trace", "raw|disasm",
            "show traced or sampled instructions, as bytes or as text",
            [&o](std::string_view how) { return show_instructions(how, o); })
      .when_bare("");
  flags.boolean(
      0, "xed", o.disassembles,
      "show the text of instructions, instead of their bytes; the tool xed is not needed");
  flags.act(0, "call-trace", "show the calls of an instruction trace, indented",
            [&o] { return show_calls(false, o); });
  flags.act(0, "call-ret-trace", "show the calls and returns of an instruction trace, indented",
            [&o] { return show_calls(true, o); });
  flags.call(0, "graph-function", "symbol[,symbol...]",
             "of --call-trace and --call-ret-trace: only these functions and all that they call",
             words_into(o.graph_functions));
  declare_itrace(flags, ItraceDefaults::kScript, o.itrace);
  flags.count('v', "verbose", o.verbose, "say where the symbols of each object come from");
  declare_symbol_sources(flags, o.symbol_sources);
  declare_guest_files(flags, o.symbol_sources.guests);
  declare_unwind_style(flags);
  auto nothing = [] { return Result<>(); };
  flags
      .call(0, "addr2line", "path", "no effect: line numbers are read without it",
            [](std::string_view) { return Result<>(); })
      .without_effect("line numbers are read without it");
  flags
      .act('a', "all-cpus",
           "no effect: scripts run by name record everything if no command follows", nothing)
      .without_effect("scripts that are run by name record everything if no command follows");
  flags.boolean('d', "debug-mode", o.checks_order,
                "show no lines, but how many records came too late to be put in order");
}

}  // namespace sonde
