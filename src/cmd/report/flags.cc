// The command line of `report`: every perf option is implemented, accepted if it does not affect
// the text, or refused with a message.
#include <cstdlib>

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
    "Display call graph (stack chain/backtrace):\n\n"
    "\t\t\t\tprint_type:\tcall graph printing style (graph|flat|fractal|folded|none)\n"
    "\t\t\t\tthreshold:\tminimum call graph inclusion threshold (<percent>)\n"
    "\t\t\t\tprint_limit:\tmaximum number of call graph entry (<number>)\n"
    "\t\t\t\torder:\t\tcall graph order (caller|callee)\n"
    "\t\t\t\tsort_key:\tcall graph sort key (function|address)\n"
    "\t\t\t\tbranch:\t\tinclude last branch info to call graph (branch)\n"
    "\t\t\t\tvalue:\t\tcall graph value (percent|period|count)\n\n"
    "\t\t\t\tDefault: graph,0.5,caller,function,percent";

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
  flags.text('i', "input", o.input, "file", "input file name");
  flags.boolean('f', "force", o.force, "don't complain, do it");
  flags.count('v', "verbose", o.verbose, "be more verbose (show symbol address, etc)");
  flags.boolean('q', "quiet", o.quiet, "Do not show any warnings or messages");
  flags.boolean('D', "dump-raw-trace", o.dump, "dump raw trace in ASCII");
  flags.boolean(0, "stats", o.stats, "Display event stats");
  flags.boolean(0, "tasks", o.tasks, "Display recorded tasks");
  flags.boolean(0, "mmaps", o.mmaps, "Display recorded tasks memory maps");
  flags.boolean(0, "header", o.header, "Show data header.");
  flags.boolean(0, "header-only", o.header_only, "Show only data header.");
  flags.boolean('T', "threads", o.threads, "Show per-thread event counters");
  flags.call(0, "pretty", "key", "pretty printing style key: normal raw",
             [&o](std::string_view word) -> Result<> {
               if (word != "normal" && word != "raw")
                 return fail(ErrorCode::kUsage, "expects normal or raw, not '{}'", word);
               o.raw_counters = word == "raw";
               return {};
             });
  flags.boolean('I', "show-info", o.full_header,
                "Display extended information about perf.data file");
}

void declare_rows(FlagTable& flags, ReportOptions& o) {
  flags.text('s', "sort", o.sort, "key[,key2...]", "sort by key(s): " + key_names());
  flags.text('F', "fields", o.fields, "key[,keys...]",
             "output field(s): overhead period sample  " + key_names());
  flags.boolean(0, "children", o.children,
                "Accumulate callchains of children and show total overhead as well. "
                "Enabled by default, use --no-children to disable.");
  flags
      .call('g', "call-graph", "print_type,threshold[,print_limit],order,sort_key[,branch],value",
            kCallGraphHelp,
            [&o](std::string_view text) { return parse_call_graph(text, o.call_graph); })
      .when_last("graph,0.5,caller,function,percent")
      .on_negation([&o] { o.call_graph.style = view::GraphStyle::kNone; });
  flags.boolean('G', "inverted", o.inverted, "alias for inverted call graph");
  flags.number(0, "max-stack", o.max_stack, "n",
               "Set the maximum stack depth when parsing the callchain, anything beyond the "
               "specified depth will be ignored. Default: kernel.perf_event_max_stack or 127");
  flags.boolean(0, "stitch-lbr", o.stitch_lbr, "Enable LBR callgraph stitching approach");
  flags.text('p', "parent", o.parent, "regex",
             "regex filter to identify parent, see: '--sort parent'");
  flags.text(0, "ignore-callees", o.ignore_callees, "regex",
             "ignore callees of these functions in call graphs");
  flags.boolean(0, "hierarchy", o.hierarchy, "Show entries in a hierarchy");
  flags
      .act(0, "group", "Show event group information together",
           [&o]() -> Result<> {
             o.group = o.group_forced = true;
             return {};
           })
      .on_negation([&o] {
        o.group = o.group_forced = false;
        o.group_forbidden = true;
      });
  flags.number(0, "group-sort-idx", o.group_sort_index, "n",
               "Sort the output by the event at the index n in group. If n is invalid, sort by "
               "the first event. WARNING: should be used on grouped events.");
  flags.boolean('b', "branch-stack", o.branch_stack,
                "use branch records for per branch histogram filling");
  flags.boolean(0, "branch-history", o.branch_history, "add last branch records to call history");
  flags.boolean(0, "total-cycles", o.total_cycles, "Sort all blocks by 'Sampled Cycles%'");
  flags.boolean(0, "show-ref-call-graph", o.reference_graphs,
                "Show callgraph from reference event");
  flags.boolean(0, "mem-mode", o.memory_mode, "mem access profile");
  flags.boolean(0, "raw-trace", o.raw_trace,
                "Show raw trace event output (do not use print fmt or plugins)");
  flags.boolean(0, "ns", o.nanoseconds, "Show times in nanosecs");
  flags.text(0, "time-quantum", o.time_quantum, "time (ms|us|ns|s)",
             "Set time quantum for time sort key (default 100ms)");
}

void declare_filters(FlagTable& flags, ReportOptions& o) {
  declare_names(flags, {.comms = 'c', .dsos = 'd', .symbols = 'S'}, o.comms, o.dsos, o.symbols);
  flags.call(0, "pid", "pid[,pid...]", "only consider symbols in these pids", numbers_into(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only consider symbols in these tids", numbers_into(o.tids));
  flags.call('C', "cpu", "cpu", "list of cpus to profile", numbers_into(o.cpus));
  flags.text(0, "time", o.time, "str", "Time span of interest (start,stop)");
  flags.boolean('U', "hide-unresolved", o.hide_unresolved,
                "Only display entries resolved to a symbol");
  flags.boolean('x', "exclude-other", o.exclude_other, "Only display entries with parent-match");
  flags.text(0, "symbol-filter", o.symbol_filter, "filter",
             "only show symbols that (partially) match with this filter");
  flags.number(0, "socket-filter", o.socket, "n",
               "only show processor socket that match with this filter");
  flags.call(0, "percent-limit", "percent", "Don't show entries under that percent",
             [&o](std::string_view word) { return set_percent_limit(o, word); });
  flags.call(0, "percentage", "relative|absolute", "how to display percentage of filtered entries",
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
  flags.boolean(0, "skip-empty", o.skip_empty,
                "Do not display empty (or dummy) events in the output");
}

void declare_output(FlagTable& flags, ReportOptions& o) {
  flags.boolean('n', "show-nr-samples", o.show_samples, "Show a column with the number of samples");
  flags.boolean(0, "show-total-period", o.show_period, "Show a column with the sum of periods");
  flags.boolean(0, "show-cpu-utilization", o.show_modes,
                "Show sample percentage for different cpu modes");
  flags.boolean(0, "showcpuutilization", o.show_modes, "The same").hidden();
  flags.boolean(0, "latency", o.latency,
                "Show shares of wall-clock time first: each sample counts by its period divided by "
                "the number of threads that were running (needs record --latency)");
  flags.boolean(0, "confidence", o.show_intervals,
                "Show the 95% interval of each share: where it would be with many more samples");
  flags.text('w', "column-widths", o.widths, "width[,width...]",
             "don't try to adjust column width, use these fixed values");
  flags.text('t', "field-separator", o.separator, "separator",
             "separator for columns, no spaces will be added between columns '.' is reserved.");
  flags
      .call(0, "html", "file",
            "write one HTML page to explore (see sonde-view) instead of tables; - is standard "
            "output",
            [&o](std::string_view file) -> Result<> {
              o.html = std::string(file);
              return {};
            })
      .when_bare("sonde.html");
  flags.act(0, "stdio", "Use the stdio interface", [&o]() -> Result<> {
    o.browser = false;
    return {};
  });
  flags.act(0, "tui", "Use the TUI interface", [&o]() -> Result<> {
    o.browser = true;
    return {};
  });
  flags.call(0, "stdio-color", "mode",
             "'always' (default), 'never' or 'auto' only applicable to --stdio mode",
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
                "don't load vmlinux even if found");
}

constexpr RefusedOption kReportRefuses[] = {
    {0, "gtk", nullptr, "Use the GTK2 interface", "there is none; use --stdio"},
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
    {'m', "modules", nullptr, "load module symbols - WARNING: use only with -k and LIVE kernel",
     "symbols of modules are always loaded"},
    {0, "disable-order", nullptr, "Disable raw trace ordering",
     "the listing of the file is in the file's order anyway"},
    {0, "objdump", "path", "objdump binary to use for disassembly and annotations",
     "code is disassembled without it"},
    {0, "addr2line", "path",
     "addr2line binary to use for line numbers (not needed: they are read without it)",
     "line numbers are read without it"},
};

void declare_absent(FlagTable& flags, ReportOptions& o) {
  declare_refused(flags, kReportRefuses);
  declare_itrace(flags, ItraceDefaults::kReport, o.itrace);
  flags.boolean(0, "inline", o.inlines, "Show inline function");
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
               "Number of samples to save per histogram entry for individual browsing");
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
