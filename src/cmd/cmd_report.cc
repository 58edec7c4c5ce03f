// `report`: where the time of a recording went, as tables with call graphs.
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cmd/cmd_report_counts.h"
#include "cmd/cmd_report_options.h"
#include "cmd/cmd_report_plan.h"
#include "cmd/cmd_report_tables.h"
#include "cmd/cmd_report_time.h"
#include "cmd/command.h"
#include "cmd/header_text.h"
#include "perfdata/dump.h"
#include "render/table_text.h"

namespace sonde {
namespace {

using report::EventReport;
using report::Plan;
using report::ReportOptions;

/// "1K": perf divides by 1000 as long as more than 1000 is left.
std::string short_count(uint64_t count) {
  constexpr std::string_view kUnits = " KMG";
  size_t unit = 0;
  while (count > 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{}{}", count, kUnits[unit]);
}

Result<std::vector<std::string>> words_of_file(const std::string& path) {
  std::string text = TRY(read_file(path));
  std::vector<std::string> words;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (!line.empty() && !line.starts_with('#')) words.emplace_back(line);
  }
  return words;
}

Result<> add_words(std::string_view text, std::vector<std::string>& list) {
  for (std::string_view word : split(text, ',')) {
    if (word.starts_with("file://")) {
      for (std::string& found : TRY(words_of_file(std::string(word.substr(7)))))
        list.push_back(std::move(found));
    } else if (!word.empty()) {
      list.emplace_back(word);
    }
  }
  return {};
}

Result<> add_numbers(std::string_view text, std::vector<uint32_t>& list) {
  for (std::string_view word : split(text, ',')) {
    size_t dash = word.find('-');
    auto first = parse_number(word.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first > 65536)
      return fail(ErrorCode::kUsage, "expects numbers divided by commas, not '{}'", word);
    for (uint64_t i = *first; i <= *last; ++i) list.push_back(static_cast<uint32_t>(i));
  }
  return {};
}

class ReportCommand final : public Command {
 public:
  Result<> configure(const Config& config) override {
    o_.children = TRY(config.get_bool("report.children", o_.children));
    o_.group = TRY(config.get_bool("report.group", o_.group));
    o_.skip_empty = TRY(config.get_bool("report.skip-empty", o_.skip_empty));
    if (auto limit = config.get("report.percent-limit")) set_percent_limit(*limit);
    if (auto sort = config.get("report.sort_order")) o_.sort = std::string(*sort);
    return configure_call_graph(config);
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Shows where the samples of a recording fall: a table per event, whose rows are what the sort keys say (comm, object, function …), heaviest first, each with the call paths that lead to it or away from it.)");
    declare_input(flags);
    declare_rows(flags);
    declare_filters(flags);
    declare_output(flags);
    declare_symbols(flags);
  }

  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (!arguments.empty()) {
      if (o_.symbol_filter) return fail(ErrorCode::kUsage, "Error: too many arguments");
      o_.symbol_filter = arguments[0];
    }
    if (o_.hierarchy && o_.fields)
      return fail(ErrorCode::kUsage,
                  "Error: --hierarchy and --fields options cannot be used together");
    Session session = TRY(open(env));
    if (o_.dump) return dump(env, session);
    TraceTexts traces(session);
    Plan plan;
    if (!o_.header_only && !o_.stats && !o_.tasks && !o_.mmaps)
      plan = TRY(report::make_plan(o_, session, traces));
    write_preamble(env.out, session);
    if (o_.header_only) return 0;
    if (o_.stats) {
      report::write_stats(env.out, session, o_.skip_empty);
      return 0;
    }
    if (o_.tasks || o_.mmaps) {
      report::write_tasks(env.out, session, o_.mmaps);
      return 0;
    }
    return write_tables(env, session, traces, plan);
  }

 private:
  Result<> configure_call_graph(const Config& config) {
    for (std::string_view name : {"print-type", "threshold", "order", "sort-key"}) {
      auto value = config.get(fmt::format("call-graph.{}", name));
      if (value) TRY(report::parse_call_graph(*value, o_.call_graph));
    }
    return {};
  }

  /// Holds for nodes of call graphs too, unless a later -g says otherwise.
  void set_percent_limit(std::string_view word) {
    o_.percent_limit = std::strtod(std::string(word).c_str(), nullptr);
    o_.call_graph.min_percent = o_.percent_limit;
  }

  static std::function<Result<>(std::string_view)> words_into(std::vector<std::string>& list) {
    return [&list](std::string_view text) { return add_words(text, list); };
  }
  static std::function<Result<>(std::string_view)> numbers_into(std::vector<uint32_t>& list) {
    return [&list](std::string_view text) { return add_numbers(text, list); };
  }

  void declare_input(FlagTable& flags) {
    flags.text('i', "input", o_.input, "file", "input file name");
    flags.boolean('f', "force", o_.force, "don't complain, do it");
    flags.count('v', "verbose", o_.verbose, "be more verbose (show symbol address, etc)");
    flags.boolean('q', "quiet", o_.quiet, "Do not show any warnings or messages");
    flags.boolean('D', "dump-raw-trace", o_.dump, "dump raw trace in ASCII");
    flags.boolean(0, "stats", o_.stats, "Display event stats");
    flags.boolean(0, "tasks", o_.tasks, "Display recorded tasks");
    flags.boolean(0, "mmaps", o_.mmaps, "Display recorded tasks memory maps");
    flags.boolean(0, "header", o_.header, "Show data header.");
    flags.boolean(0, "header-only", o_.header_only, "Show only data header.");
    flags.boolean('I', "show-info", o_.full_header,
                  "Display extended information about perf.data file");
  }

  void declare_rows(FlagTable& flags) {
    flags.text('s', "sort", o_.sort, "key[,key2...]", "sort by key(s): " + key_names());
    flags.text('F', "fields", o_.fields, "key[,keys...]",
               "output field(s): overhead period sample  " + key_names());
    flags.boolean(0, "children", o_.children,
                  "Accumulate callchains of children and show total overhead as well. "
                  "Enabled by default, use --no-children to disable.");
    flags
        .call(
            'g', "call-graph", "print_type,threshold[,print_limit],order,sort_key[,branch],value",
            kCallGraphHelp,
            [this](std::string_view text) { return report::parse_call_graph(text, o_.call_graph); })
        .when_last("graph,0.5,caller,function,percent")
        .on_negation([this] { o_.call_graph.style = view::GraphStyle::kNone; });
    flags.boolean('G', "inverted", o_.inverted, "alias for inverted call graph");
    flags.number(0, "max-stack", o_.max_stack, "n",
                 "Set the maximum stack depth when parsing the callchain, anything beyond the "
                 "specified depth will be ignored. Default: kernel.perf_event_max_stack or 127");
    flags.text('p', "parent", o_.parent, "regex",
               "regex filter to identify parent, see: '--sort parent'");
    flags.text(0, "ignore-callees", o_.ignore_callees, "regex",
               "ignore callees of these functions in call graphs");
    flags.boolean(0, "hierarchy", o_.hierarchy, "Show entries in a hierarchy");
    flags
        .act(0, "group", "Show event group information together",
             [this]() -> Result<> {
               o_.group = o_.group_forced = true;
               return {};
             })
        .on_negation([this] {
          o_.group = o_.group_forced = false;
          o_.group_forbidden = true;
        });
    flags.number(0, "group-sort-idx", o_.group_sort_index, "n",
                 "Sort the output by the event at the index n in group. If n is invalid, sort by "
                 "the first event. WARNING: should be used on grouped events.");
    flags.boolean('b', "branch-stack", o_.branch_stack,
                  "use branch records for per branch histogram filling");
    flags.boolean(0, "mem-mode", o_.memory_mode, "mem access profile");
    flags.boolean(0, "raw-trace", o_.raw_trace,
                  "Show raw trace event output (do not use print fmt or plugins)");
    flags.boolean(0, "ns", o_.nanoseconds, "Show times in nanosecs");
    flags.text(0, "time-quantum", o_.time_quantum, "time (ms|us|ns|s)",
               "Set time quantum for time sort key (default 100ms)");
  }

  void declare_filters(FlagTable& flags) {
    flags.call('c', "comms", "comm[,comm...]", "only consider symbols in these comms",
               words_into(o_.comms));
    flags.call('d', "dsos", "dso[,dso...]", "only consider symbols in these dsos",
               words_into(o_.dsos));
    flags.call('S', "symbols", "symbol[,symbol...]", "only consider these symbols",
               words_into(o_.symbols));
    flags.call(0, "pid", "pid[,pid...]", "only consider symbols in these pids",
               numbers_into(o_.pids));
    flags.call(0, "tid", "tid[,tid...]", "only consider symbols in these tids",
               numbers_into(o_.tids));
    flags.call('C', "cpu", "cpu", "list of cpus to profile", numbers_into(o_.cpus));
    flags.text(0, "time", o_.time, "str", "Time span of interest (start,stop)");
    flags.boolean('U', "hide-unresolved", o_.hide_unresolved,
                  "Only display entries resolved to a symbol");
    flags.boolean('x', "exclude-other", o_.exclude_other, "Only display entries with parent-match");
    flags.text(0, "symbol-filter", o_.symbol_filter, "filter",
               "only show symbols that (partially) match with this filter");
    flags.number(0, "socket-filter", o_.socket, "n",
                 "only show processor socket that match with this filter");
    flags.call(0, "percent-limit", "percent", "Don't show entries under that percent",
               [this](std::string_view word) {
                 set_percent_limit(word);
                 return Result<>();
               });
    flags.call(0, "percentage", "relative|absolute",
               "how to display percentage of filtered entries",
               [this](std::string_view word) -> Result<> {
                 if (word != "relative" && word != "absolute")
                   return fail(ErrorCode::kUsage, "expects relative or absolute, not '{}'", word);
                 o_.relative = word == "relative";
                 return {};
               });
    flags.boolean(0, "skip-empty", o_.skip_empty,
                  "Do not display empty (or dummy) events in the output");
  }

  void declare_output(FlagTable& flags) {
    flags.boolean('n', "show-nr-samples", o_.show_samples,
                  "Show a column with the number of samples");
    flags.boolean(0, "show-total-period", o_.show_period, "Show a column with the sum of periods");
    flags.boolean(0, "show-cpu-utilization", o_.show_modes,
                  "Show sample percentage for different cpu modes");
    flags.text('w', "column-widths", o_.widths, "width[,width...]",
               "don't try to adjust column width, use these fixed values");
    flags.text('t', "field-separator", o_.separator, "separator",
               "separator for columns, no spaces will be added between columns '.' is reserved.");
    flags.act(0, "stdio", "Use the stdio interface", [] { return Result<>(); });
    flags.call(0, "stdio-color", "mode",
               "'always' (default), 'never' or 'auto' only applicable to --stdio mode",
               [this](std::string_view word) -> Result<> {
                 if (word != "always" && word != "never" && word != "auto")
                   return fail(ErrorCode::kUsage, "expects always, never or auto, not '{}'", word);
                 color_ = word;
                 return {};
               });
  }

  void declare_symbols(FlagTable& flags) {
    SymbolOptions& symbols = o_.symbol_sources;
    flags.text('k', "vmlinux", symbols.vmlinux, "file", "vmlinux pathname");
    flags.boolean(0, "ignore-vmlinux", symbols.ignore_vmlinux, "don't load vmlinux even if found");
    flags.text(0, "kallsyms", symbols.kallsyms, "file", "kallsyms pathname");
    flags.text(0, "symfs", symbols.symfs, "directory",
               "Look for files with symbols relative to this directory");
    flags.boolean(0, "demangle", symbols.demangle, "Disable symbol demangling");
    flags.boolean(0, "demangle-kernel", symbols.demangle_kernel, "Enable kernel symbol demangling");
    flags.boolean(0, "full-source-path", symbols.full_source_path,
                  "Show full source file name path for source lines");
  }

  static std::string key_names() {
    std::string names =
        "overhead overhead_sys overhead_us overhead_guest_sys overhead_guest_us overhead_children "
        "sample period";
    for (const SortKeyInfo& key : sort_key_list()) {
      names += ' ';
      names += key.name;
    }
    return names;
  }

  Result<Session> open(Env& env) {
    SessionOptions options;
    options.open.force = o_.force;
    options.open.stdin_fd = env.in_fd;
    options.symbols = o_.symbol_sources;
    options.filter.cpus = o_.cpus;
    bool only_records = o_.header_only || o_.stats || o_.tasks || o_.mmaps || o_.dump;
    options.want_symbols = !only_records;
    options.want_chains =
        !only_records && (o_.children || o_.call_graph.style != view::GraphStyle::kNone);
    return Session::open(o_.input, options, env);
  }

  void write_preamble(Sink& out, const Session& session) {
    if (o_.header || o_.header_only)
      write_header_text(out, session.recording(), o_.full_header);
    else if (!o_.quiet && !o_.stats && !o_.tasks && !o_.mmaps)
      out.write(
          "# To display the perf.data header info, please use --header/--header-only options.\n"
          "#\n");
  }

  Result<int> dump(Env& env, const Session& session) {
    dump_recording(session.recording(), {.command = DumpFor::kReport}, {}, env.losses, env.out);
    report::write_stats(env.out, session, o_.skip_empty);
    return 0;
  }

  Result<int> write_tables(Env& env, Session& session, const TraceTexts& traces, const Plan& plan) {
    if (plan.rows != report::RowsOf::kSamples) session.load_all_symbols();
    TRY(check_data(session, plan));
    report::ReportBuilder builder(session, traces, o_, plan);
    auto reports = TRY(builder.build());
    if (session.samples().size() == 0) {
      env.err.print("Error:\nThe {} data has no samples!\n", o_.input);
      return 0;
    }
    for (const std::string& column : plan.elided) env.out.print("# {}\n", column);
    if (!o_.quiet) env.out.print("#\n# Total Lost Samples: {}\n#\n", session.counts().lost_samples);
    render::TableTextOptions text{
        .separator = o_.separator,
        .header = !o_.quiet,
        .color = color_ == "always" || (color_ == "auto" && env.out.is_terminal())};
    for (const std::unique_ptr<EventReport>& table : reports) {
      if (!o_.quiet) write_heading(env.out, *table);
      render::write_table(env.out, table->table, text);
      env.out.write("\n\n");
      if (env.out.failed() != 0) break;
    }
    return 0;
  }

  Result<> check_data(const Session& session, const Plan& plan) {
    uint64_t bits = 0;
    for (const EventDesc& event : session.events().all()) bits |= event.attr.sample_type;
    if ((bits & abi::kSampleCallchain) == 0) {
      if (plan.has_parent)
        return fail(ErrorCode::kFailed,
                    "Selected --sort parent, but no callchain data. Did you call 'perf record' "
                    "without -g?");
      if (o_.call_graph.given && o_.call_graph.style != view::GraphStyle::kNone)
        return fail(ErrorCode::kFailed,
                    "Selected -g or --branch-history.\nBut no callchain or branch data.\n"
                    "Did you call 'perf record' without -g or -b?");
    }
    if (plan.rows == report::RowsOf::kBranches && (bits & abi::kSampleBranchStack) == 0)
      return fail(ErrorCode::kFailed,
                  "Selected -b but no branch data. Did you call perf record without -b?");
    return {};
  }

  void write_heading(Sink& out, const EventReport& table) {
    out.print("# Samples: {} of event{} '{}'", short_count(table.samples),
              table.members.size() > 1 || table.was_joined ? "s" : "", table.name);
    if (!o_.time.empty()) out.print(" (time slices: {})", o_.time);
    if (o_.memory_mode) {
      out.print("\n# Total weight : {}", table.period);
      if (o_.sort) out.print("\n# Sort order   : {}", *o_.sort);
    } else {
      out.print("\n# Event count (approx.): {}", table.period);
    }
    if (o_.socket >= 0) out.print("\n# Processor Socket: {}", o_.socket);
    out.write("\n#\n");
  }

  static constexpr const char* kCallGraphHelp =
      "Display call graph (stack chain/backtrace):\n\n"
      "\t\t\t\tprint_type:\tcall graph printing style (graph|flat|fractal|folded|none)\n"
      "\t\t\t\tthreshold:\tminimum call graph inclusion threshold (<percent>)\n"
      "\t\t\t\tprint_limit:\tmaximum number of call graph entry (<number>)\n"
      "\t\t\t\torder:\t\tcall graph order (caller|callee)\n"
      "\t\t\t\tsort_key:\tcall graph sort key (function|address)\n"
      "\t\t\t\tbranch:\t\tinclude last branch info to call graph (branch)\n"
      "\t\t\t\tvalue:\t\tcall graph value (percent|period|count)\n\n"
      "\t\t\t\tDefault: graph,0.5,caller,function,percent";

  ReportOptions o_;
  std::string color_ = "auto";
};

}  // namespace

std::unique_ptr<Command> make_report() {
  return std::make_unique<ReportCommand>();
}

}  // namespace sonde
