// The command line of `report`: every perf option is implemented, accepted if it does not affect
// the text, or refused with a message.
#include <cstdlib>

#include "base/option_values.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/refused_options.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/listing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"
#include "cmd/report/flags.h"
#include "event/pmu/pmu.h"
#include "profile/keys/sort_key.h"

namespace sonde::report {
namespace {

constexpr const char* kCallGraphHelp =
    "show who called what in each row; the words are, in any order:\n\n"
    "\t\t\t\tprint_type:\tgraph: trees with shares of the whole; fractal: of the level above;\n"
    "\t\t\t\t\t\tflat: paths one by one; folded: a line for each path; none: nothing\n"
    "\t\t\t\tthreshold:\thide calls below this percentage\n"
    "\t\t\t\tprint_limit:\tshow at most so many calls at each level (0: all)\n"
    "\t\t\t\torder:\t\tcaller: from the outermost function down; callee: from the sampled one up\n"
    "\t\t\t\tsort_key:\ttell calls apart by function, address or srcline\n"
    "\t\t\t\tbranch:\t\tpaths begin with the last branches that were taken\n"
    "\t\t\t\tvalue:\t\tshow each call's percent, period or count of samples\n\n"
    "\t\t\t\twithout any: graph,0.5,caller,function,percent";

std::string key_names() {
  std::string names =
      "overhead overhead_sys overhead_us overhead_guest_sys overhead_guest_us overhead_children "
      "sample period confidence confidence_children latency latency_children";
  for (const SortKeyInfo& key : sort_key_list()) {
    names += ' ';
    names += key.name;
  }
  return names;
}

void declare_input(FlagTable& flags, ReportOptions& o) {
  flags.text('i', "input", o.input, "file",
             "read this recording (default: standard input if that is a pipe, else perf.data)");
  flags.boolean('f', "force", o.force, "read the recording even if it belongs to another user");
  flags.count('v', "verbose", o.verbose,
              "show full paths of objects, addresses, and where symbols come from");
  flags.boolean('q', "quiet", o.quiet, "print rows only: no headings, hints and warnings");
  flags.boolean('D', "dump-raw-trace", o.dump,
                "print all records, byte by byte and decoded, instead of tables");
  flags.boolean(0, "stats", o.stats,
                "print how many records there are of each type, instead of tables");
  flags.boolean(0, "tasks", o.tasks, "print the tree of processes and threads, instead of tables");
  flags.boolean(
      0, "mmaps", o.mmaps,
      "print the tree of processes and threads, and what each process maps, instead of tables");
  flags.boolean(0, "header", o.header,
                "begin with what the recording says of the machine, the command and the events");
  flags.boolean(0, "header-only", o.header_only, "print what --header does, and no tables");
  flags.boolean('T', "threads", o.threads,
                "also print how often each event occurred in each thread (record -s)");
  flags.call(
      0, "pretty", "key",
      "with -T: normal, a line for each thread (default), or raw, a line for each of its events",
      [&o](std::string_view word) -> Result<> {
        if (word != "normal" && word != "raw")
          return fail(ErrorCode::kUsage, "expects normal or raw, not '{}'", word);
        o.raw_counters = word == "raw";
        return {};
      });
  flags.boolean('I', "show-info", o.full_header,
                "with --header: also describe CPUs, caches and memory in full");
}

void declare_rows(FlagTable& flags, ReportOptions& o) {
  flags.text('s', "sort", o.sort, "key[,key2...]",
             "a row for each combination of these keys (after +: and of the default ones): " +
                 key_names());
  flags.text('F', "fields", o.fields, "key[,keys...]",
             "the columns, from left to right: " + key_names());
  flags.boolean(0, "children", o.children,
                "also count what the functions that a row's function calls take, in a column of "
                "its own (default)");
  flags
      .call('g', "call-graph", "print_type,threshold[,print_limit],order,sort_key[,branch],value",
            kCallGraphHelp,
            [&o](std::string_view text) { return parse_call_graph(text, o.call_graph); })
      .when_last("graph,0.5,caller,function,percent")
      .on_negation([&o] { o.call_graph.style = view::GraphStyle::kNone; });
  flags.boolean('G', "inverted", o.inverted,
                "show call graphs from the outermost function down; same as -g caller");
  flags.number(0, "max-stack", o.max_stack, "n",
               "ignore what is beyond this many functions of a call chain (default: 127)");
  flags.boolean(0, "stitch-lbr", o.stitch_lbr,
                "complete call stacks of record --call-graph lbr by those of preceding samples");
  flags.text('p', "parent", o.parent, "regex",
             "tell rows apart by the first caller that matches, as -s parent does (its default: "
             "^sys_|^do_page_fault)");
  flags.text(0, "ignore-callees", o.ignore_callees, "regex",
             "count what matching functions call as their own");
  flags.boolean(0, "hierarchy", o.hierarchy, "nest rows: a level for each key of -s");
  flags
      .act(0, "group",
           "show all events side by side in one table, even if they were not recorded as a group",
           [&o]() -> Result<> {
             o.group = o.group_forced = true;
             return {};
           })
      .on_negation([&o] {
        o.group = o.group_forced = false;
        o.group_forbidden = true;
      });
  flags.number(
      0, "group-sort-idx", o.group_sort_index, "n",
      "sort the rows of a group by its event at index n; by the first one if there is none");
  flags.boolean(
      'b', "branch-stack", o.branch_stack,
      "a row for each branch, from its source to its target (default if branches were recorded)");
  flags.boolean(0, "branch-history", o.branch_history,
                "call chains by address, beginning with the last branches that were taken");
  flags.boolean(0, "total-cycles", o.total_cycles,
                "a row for each basic block, by the cycles that passed in it (record -b)");
  flags.boolean(
      0, "check-chains", o.check_chains,
      "cut call chains by frame pointers at the first caller that cannot be one, where no "
      "call precedes it: [broken chain] (default; under the name perf: as recorded)");
  flags.boolean(
      0, "show-ref-call-graph", o.reference_graphs,
      "say, in the headings of events recorded with call-graph=no, that their call graphs "
      "are those of the group's leader (which are shown in any case)");
  flags.boolean(0, "mem-mode", o.memory_mode,
                "a profile of memory accesses, which count by how long they took (mem record)");
  flags.boolean(0, "raw-trace", o.raw_trace,
                "show the fields of tracepoints as they were recorded, not the text that the "
                "kernel makes of them");
  flags.boolean(0, "ns", o.nanoseconds,
                "show times of -s time to the nanosecond (default: microsecond)");
  flags.call(0, "time-quantum", "time (ms|us|ns|s)",
             "length of the intervals that are the rows of -s time (default: 100ms)",
             [&o](std::string_view text) -> Result<> {
               o.time_quantum_ns = TRY(parse_time_ns(text, 1'000'000));
               return {};
             });
}

void declare_filters(FlagTable& flags, ReportOptions& o) {
  declare_names(flags, {.comms = 'c', .dsos = 'd', .symbols = 'S'}, o.comms, o.dsos, o.symbols);
  flags.call(0, "pid", "pid[,pid...]", "only samples of these processes", numbers_into(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only samples of these threads", numbers_into(o.tids));
  flags.call('C', "cpu", "cpu", "only samples of these CPUs", numbers_into(o.cpus));
  flags.text(0, "time", o.time, "str",
             "only samples of this span: seconds (start,stop), or shares of the recording such as "
             "10%-20%");
  flags.boolean('U', "hide-unresolved", o.hide_unresolved,
                "leave out samples of code that no symbol names");
  flags.boolean('x', "exclude-other", o.exclude_other,
                "leave out samples without a caller that -p or -s parent finds");
  flags.text(0, "symbol-filter", o.symbol_filter, "filter",
             "only functions with this in their name");
  flags.number(0, "socket-filter", o.socket, "n", "only samples of the CPUs of this socket");
  flags.call(0, "percent-limit", "percent",
             "hide rows, and calls in call graphs, below this percentage",
             [&o](std::string_view word) { return set_percent_limit(o, word); });
  flags.call(
      0, "percentage", "relative|absolute",
      "shares are of all samples (absolute, the default) or of those that filters leave (relative)",
      relative_into(o.relative));
  flags.call(0, "parallelism", "level[,level...]",
             "only consider samples taken while that many threads were running: 1,4-8",
             [&o](std::string_view list) -> Result<> {
               auto levels = parse_cpu_list(list);
               if (!levels || levels->empty())
                 return fail(ErrorCode::kUsage, "expects levels such as 1,4-8, not '{}'", list);
               o.parallelism = std::move(*levels);
               return {};
             });
  declare_gate(flags, o.gate);
  flags.boolean(0, "skip-empty", o.skip_empty, "leave out events without samples (default)");
}

void declare_output(FlagTable& flags, ReportOptions& o) {
  flags.boolean('n', "show-nr-samples", o.show_samples, "add a column: how many samples");
  flags.boolean(0, "show-total-period", o.show_period,
                "add a column: the sum of the samples' periods");
  flags.boolean(
      0, "show-cpu-utilization", o.show_modes,
      "add columns: the shares in the kernel and in user code (with --guest: of guests, too)");
  flags.boolean(0, "showcpuutilization", o.show_modes, "same as --show-cpu-utilization").hidden();
  flags.boolean(0, "latency", o.latency,
                "show shares of wall-clock time first: each sample counts by its period divided by "
                "the number of threads that were running (needs record --latency)");
  flags.boolean(0, "confidence", o.show_intervals,
                "show the 95% interval of each share: where it would be with many more samples");
  flags.text('w', "column-widths", o.widths, "width[,width...]",
             "widths of the columns, from left to right (default: as wide as their values)");
  flags.text(
      't', "field-separator", o.separator, "separator",
      "put this between columns, and no blanks; where a value contains it, it becomes a dot");
  flags
      .call(0, "html", "file",
            "write one HTML page to explore (see sonde-view) instead of tables; - is standard "
            "output",
            [&o](std::string_view file) -> Result<> {
              o.html = std::string(file);
              return {};
            })
      .when_bare("sonde.html");
  flags.act(0, "stdio", "print text, instead of opening the browser", [&o]() -> Result<> {
    o.browser = false;
    return {};
  });
  flags.act(0, "tui", "open the browser (default on a terminal)", [&o]() -> Result<> {
    o.browser = true;
    return {};
  });
  flags.call(0, "stdio-color", "mode",
             "print text, with colours: always, never, or only on a terminal (auto, the default)",
             [&o](std::string_view word) -> Result<> {
               if (word != "always" && word != "never" && word != "auto")
                 return fail(ErrorCode::kUsage, "expects always, never or auto, not '{}'", word);
               o.color = word;
               o.browser = false;
               return {};
             });
}

void declare_symbols(FlagTable& flags, ReportOptions& o) {
  declare_symbol_sources(flags, o.symbol_sources);
  declare_guest_files(flags, o.symbol_sources.guests);
  declare_guest_sides(flags, o.shows_host, o.shows_guests);
  declare_unwind_style(flags);
  flags.boolean(0, "ignore-vmlinux", o.symbol_sources.ignore_vmlinux,
                "take the kernel's symbols from no vmlinux but that of -k");
}

constexpr RefusedOption kReportRefuses[] = {
    {0, "gtk", nullptr, "show the tables in a window", "there is none; use --stdio"},
};

/// Options of perf's terminal interface, which do not affect the text: accepted and checked, as
/// perf does with --stdio.
struct OfBrowser {
  char letter;
  const char* name;
  const char* argument;
  const char* help;
  const char* no_effect;
};
constexpr OfBrowser kOfBrowser[] = {
    {'m', "modules", nullptr, "load module symbols (they always are)",
     "symbols of modules are always loaded"},
    {0, "disable-order", nullptr,
     "print the records of -D in the order of the file (they always are)",
     "the listing of the file is in the file's order anyway"},
    {0, "objdump", "path", "path of objdump (not needed: code is decoded without it)",
     "code is disassembled without it"},
    {0, "addr2line", "path", "path of addr2line (not needed: line numbers are read without it)",
     "line numbers are read without it"},
};

void declare_absent(FlagTable& flags, ReportOptions& o) {
  declare_refused(flags, kReportRefuses);
  declare_itrace(flags, ItraceDefaults::kReport, o.itrace);
  flags.boolean(0, "inline", o.inlines,
                "show inlined functions in call chains (default: in those that were unwound)");
}

void declare_browser(FlagTable& flags, ReportOptions& o) {
  for (const OfBrowser& option : kOfBrowser) {
    if (option.argument == nullptr)
      flags.act(option.letter, option.name, option.help, [] { return Result<>(); })
          .on_negation([] {})
          .without_effect(option.no_effect);
    else
      flags
          .call(option.letter, option.name, option.argument, option.help,
                [](std::string_view) { return Result<>(); })
          .without_effect(option.no_effect);
  }
  flags.number(0, "samples", o.browser_samples, "n",
               "in the browser, up to n samples of each row can be looked at one by one");
  declare_listing(flags, o.code);
}

}  // namespace

void declare_flags(FlagTable& flags, ReportOptions& o) {
  declare_input(flags, o);
  declare_rows(flags, o);
  declare_filters(flags, o);
  declare_output(flags, o);
  declare_symbols(flags, o);
  declare_browser(flags, o);
  declare_absent(flags, o);
}

}  // namespace sonde::report
