// `report`: where the time of a recording went, as tables with call graphs.
#include "cmd/report/report.h"
#include "base/files/regular_file.h"
#include "base/printing/csv.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/options/listing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "cmd/report/flags.h"
#include "cmd/report/page.h"
#include "itrace/synthesizer.h"
#include "perfdata/dump/header_text.h"
#include "render/damage_text.h"
#include "render/table_text.h"
#include "replay/fields/time_ranges.h"
#include "replay/frames/prepare_lines.h"
#include "replay/frames/stitching.h"
#include "report/blocks.h"
#include "report/browser/browser.h"
#include "report/counts.h"
#include "report/heading.h"
#include "report/no_samples.h"
#include "report/plan.h"
#include "report/tables.h"
#include "script/dump_tail.h"
#include "tui/terminal/browser_terminal.h"

namespace sonde {
namespace {

using report::EventReport;
using report::Plan;
using report::ReportOptions;

class ReportCommand final : public Command {
 public:
  ReportCommand() : own_(std::make_unique<ReportOptions>()), o_(*own_) {}
  explicit ReportCommand(ReportOptions& options) : o_(options) {}

  Result<> configure(const Config& config) override {
    o_.children = TRY(config.get_bool("report.children", o_.children));
    o_.group = TRY(config.get_bool("report.group", o_.group));
    o_.skip_empty = TRY(config.get_bool("report.skip-empty", o_.skip_empty));
    if (auto limit = config.get("report.percent-limit")) TRY(report::set_percent_limit(o_, *limit));
    if (auto sort = config.get("report.sort_order")) o_.sort = std::string(*sort);
    if (!TRY(config.get_bool("tui.report", true))) o_.browser = false;
    return configure_call_graph(config);
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Shows where the samples of a recording fall: a table per event, with a row per value of the sort keys (comm, object, function …), heaviest first, each with the call paths that lead to it or away from it.)");
    flags.section(
        "DAMAGED RECORDINGS",
        R"(Of a recording that is cut or damaged, what can be read is shown. Lines above the first table (and in the browser, its title line and the page of i) say which share of the records' bytes could not be read, and name the first damaged record by type, file offset and reason; -D shows records by the same offsets (those of a pipe's output are 16 lower there, as with perf). Standard error ends with the same lines.

Where more than a tenth could not be read, the exit status is 1. This holds for all commands that read recordings. How much a recorder that was killed would still have written is not known, and does not count.)");
    flags.section(
        "LATENCY",
        R"(A recording with context switches (record --latency) also shows each row's share of wall-clock time, in the column Latency: every sample counts by its period divided by its parallelism, the number of threads of the recording that were running when it was taken. --latency puts that column first and sorts by it; -s parallelism shows how much of the time that many threads were running; --parallelism 1,4-8 only considers samples of these levels.)");
    report::declare_flags(flags, o_);
  }

  [[nodiscard]] bool paged() const override { return !wants_browser(); }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (!arguments.empty()) {
      if (o_.symbol_filter) return fail(ErrorCode::kUsage, "Error: too many arguments");
      o_.symbol_filter = arguments[0];
    }
    bool is_named = !o_.input.empty();
    o_.input = input().chosen_path(env);
    tell_of_nameless(o_.symbol_sources, env);
    if (o_.html || (wants_browser() && can_browse(env)))
      name_frame_functions(o_.symbol_sources, env);
    if (o_.html) return report::write_page(o_, env);
    TRY(check_options());
    Result<Session> opened = open(env);
    if (!opened)
      return is_named ? std::unexpected(std::move(opened).error())
                      : not_opened(std::move(opened).error(), arguments);
    Session session = std::move(*opened);
    if (session.counts().records_by_type[abi::kRecordAuxtrace] != 0 && !o_.itrace)
      tell_of_traces(session, env);
    if (o_.dump) return dump(env, session);
    if (wants_browser() && can_browse(env)) return open_browser(std::move(session), env);
    if (o_.browser.value_or(false))
      env.err.write("--tui: there is no terminal to show it on; this is the text of --stdio\n");
    if (std::exchange(o_.browser_samples, 0) > 0)
      env.err.write("--samples: single samples are shown by the browser (--tui), not by --stdio\n");
    TraceTexts traces(session);
    Plan plan;
    if (!o_.header_only && !o_.stats && !o_.tasks && !o_.mmaps)
      plan = TRY(report::make_plan(o_, session, traces));
    write_preamble(env, session);
    if (o_.header_only) return 0;
    if (o_.stats) {
      report::write_stats(env.out, session, o_.skip_empty);
      return 0;
    }
    if (o_.tasks || o_.mmaps) {
      report::write_tasks(env.out, session, o_.mmaps);
      return 0;
    }
    plan.makes_pages = true;
    return write_tables(env, session, traces, plan);
  }

 private:
  [[nodiscard]] RecordingInput input() const { return {.path = o_.input, .force = o_.force}; }
  /// Options that ask for text output rule out the browser.
  [[nodiscard]] bool wants_browser() const {
    bool asks_text = o_.header || o_.header_only || o_.stats || o_.tasks || o_.mmaps || o_.dump ||
                     o_.threads || o_.html || !o_.separator.empty() || input().is_standard_input();
    return o_.browser.value_or(true) && !asks_text && !o_.total_cycles;
  }

  Result<int> open_browser(Session session, Env& env) {
    using Opened = std::unique_ptr<report::OpenRecording>;
    auto prepare = [this](Session opened, Env& outside) -> Result<Opened> {
      auto recording = std::make_unique<report::OpenRecording>(std::move(opened));
      Plan plan = TRY(report::make_plan(o_, recording->session, recording->traces));
      TRY(prepare_tables(recording->session, plan, outside));
      return recording;
    };
    auto open_another = [this, &env, prepare](const std::string& path) -> Result<Opened> {
      auto outside = std::make_unique<report::Outside>(env, &env.losses);
      std::string before = std::exchange(o_.input, path);
      auto opened = open(outside->env);
      o_.input = before;
      Session another = TRY(std::move(opened));
      Opened recording = TRY(prepare(std::move(another), outside->env));
      recording->outside = std::move(outside);
      return recording;
    };
    auto recording = TRY(prepare(std::move(session), env));
    return report::browse(std::move(recording), o_, open_another, env);
  }

  [[nodiscard]] Result<> check_options() const {
    if (o_.hierarchy && o_.fields)
      return fail(
          ErrorCode::kUsage,
          "--hierarchy makes a level of each key of -s, --fields a column: give one of them");
    TRY(check_listing(o_.code));
    if (std::string_view name = o_.total_cycles ? report::option_without_blocks(o_) : "";
        !name.empty())
      return fail(ErrorCode::kFailed, "{} does not go with --total-cycles: rows are basic blocks",
                  name);
    if (o_.inlines.value_or(false) && (o_.branch_history || o_.call_graph.branch_history))
      return fail(ErrorCode::kFailed,
                  "--inline: call chains with branches have no inlined functions; leave it out");
    return {};
  }

  static void tell_of_traces(const Session& session, Env& env) {
    if (std::ranges::none_of(session.events().all(), itrace::is_synthesized))
      env.err.print("The recording has instruction traces, which are not decoded.\n");
  }

  Result<> configure_call_graph(const Config& config) {
    for (std::string_view name : {"print-type", "threshold", "order", "sort-key"}) {
      auto value = config.get(fmt::format("call-graph.{}", name));
      if (value) TRY(report::parse_call_graph(*value, o_.call_graph));
    }
    return {};
  }

  /// A word without -i selects symbols, which not everybody knows who gives the name of a file.
  [[nodiscard]] std::unexpected<Error> not_opened(Error error, const Arguments& arguments) const {
    if (arguments.empty()) return std::unexpected(std::move(error));
    const std::string& word = arguments[0];
    if (status_of_regular(word))
      error.message += fmt::format("\n'perf report -i {}' reads that file", word);
    else
      error.message += fmt::format("; there is no file {} either", word);
    error.message += fmt::format(": without -i, '{}' selects symbols", word);
    return std::unexpected(std::move(error));
  }

  Result<Session> open(Env& env) {
    SessionOptions options;
    options.symbols = o_.symbol_sources;
    options.itrace = o_.itrace;
    options.filter.cpus = o_.cpus;
    bool only_records = o_.header_only || o_.stats || o_.tasks || o_.mmaps || o_.dump;
    if (only_records)
      options.itrace.reset();
    else if (!options.itrace)
      options.itrace = TRY(parse_itrace("", ItraceDefaults::kProfile));
    options.want_symbols = !only_records;
    options.late_names = !only_records;
    options.inlines = chosen_inlines(o_.inlines);
    options.chains.reset();
    if (!only_records &&
        (looks_at_callers() || o_.children || o_.call_graph.style != view::GraphStyle::kNone))
      options.chains = {.check = o_.check_chains.value_or(env.tool != "perf"),
                        .stitch_calls = o_.stitch_lbr};
    options.narrow = [this](const EventTable& events, const Features& features,
                            SessionOptions& narrowed) {
      report::choose_branch_history(o_, events, narrowed);
      if (!report::joins_samples(events))
        narrowed.filter.times = time_ranges_by_header(o_.time, features);
    };
    return input().open_session(std::move(options), env);
  }

  /// True even if no call graph is shown.
  [[nodiscard]] bool looks_at_callers() const {
    return o_.parent || o_.exclude_other || o_.ignore_callees ||
           need_chains(o_.sort.value_or("")) || need_chains(o_.fields.value_or(""));
  }

  /// Source lines of rows or of callers.
  [[nodiscard]] bool shows_lines() const {
    auto names_lines = [](const std::optional<std::string>& keys) {
      return keys && keys->find("src") != std::string::npos;
    };
    return names_lines(o_.sort) || names_lines(o_.fields) || o_.branch_history ||
           (o_.call_graph.given && o_.call_graph.key != CallKey::kFunction);
  }

  void write_preamble(Env& env, const Session& session) {
    if (o_.header || o_.header_only)
      write_header_text(env.out, session.recording(), o_.full_header);
    else if (!o_.quiet && !o_.stats && !o_.tasks && !o_.mmaps)
      env.out.write(
          "# To display the perf.data header info, please use --header/--header-only options.\n"
          "#\n");
    if (!o_.quiet) render::write_damage(env.out, env.losses);
  }

  Result<int> dump(Env& env, const Session& session) {
    write_preamble(env, session);
    dump_session(session, o_.cpus, env.losses, env.out);
    report::write_stats(env.out, session, o_.skip_empty);
    return 0;
  }

  Result<> prepare_tables(Session& session, const Plan& plan, Env& env) const {
    if (o_.stitch_lbr) warn_about_stitching(session.recording(), env.err);
    if (plan.rows != report::RowsOf::kSamples) session.load_all_symbols();
    TRY(check_data(session, plan));
    if (shows_lines()) prepare_lines(session);
    return {};
  }

  Result<int> write_tables(Env& env, Session& session, const TraceTexts& traces, const Plan& plan) {
    TRY(prepare_tables(session, plan, env));
    for (const std::string& column : plan.elided) env.out.print("# {}\n", column);
    report::ReportBuilder builder(session, traces, o_, plan, env.tool);
    auto reports = TRY(builder.build());
    if (builder.samples() == 0)
      return report::say_no_samples(env, o_.input, session.counts().samples);
    if (!o_.quiet) {
      env.out.print("#\n# Total Lost Samples: {}\n#\n", session.counts().lost.samples);
      report::write_gaps(env.out, session);
    }
    bool quotes = !o_.separator.empty() && TRY(quotes_formulas(env));
    render::TableTextOptions text{
        .separator = o_.separator,
        .header = !o_.quiet,
        .color = o_.color == "always" || (o_.color == "auto" && env.out.is_terminal()),
        .quotes_formulas = quotes};
    for (const std::unique_ptr<EventReport>& table : reports) {
      if (!o_.quiet) report::write_heading(env.out, *table, o_, plan);
      if (o_.total_cycles && !o_.quiet) report::write_counter_legend(env.out, session);
      render::write_table(env.out, o_.total_cycles ? blocks_of(session, *table) : table->table,
                          text);
      env.out.write("\n\n");
      if (env.out.failed() != 0) break;
    }
    if (o_.threads) report::write_thread_counters(env.out, session, o_.raw_counters);
    if (!o_.quiet)
      for (const std::string& note : builder.notes()) env.err.print("{}\n", note);
    return 0;
  }

  [[nodiscard]] view::Table blocks_of(const Session& session, const EventReport& table) const {
    auto wants = [&](EventId event) {
      return std::ranges::find(table.members, event) != table.members.end();
    };
    return report::block_table(session, sum_blocks(session, wants), o_.percent_limit,
                               o_.verbose > 0);
  }

  Result<> check_data(const Session& session, const Plan& plan) const {
    uint64_t bits = 0;
    for (const EventDesc& event : session.events().all()) bits |= event.attr.sample_type;
    bool has_branch_paths = o_.branch_history && (bits & abi::kSampleBranchStack) != 0;
    bool wants_graph = o_.branch_history ||
                       (o_.call_graph.given && o_.call_graph.style != view::GraphStyle::kNone);
    if ((bits & abi::kSampleCallchain) == 0 && !has_branch_paths) {
      if (plan.has_parent)
        return fail(ErrorCode::kFailed,
                    "-s parent: no call chains were recorded to find callers in; record with -g");
      if (wants_graph)
        return fail(ErrorCode::kFailed,
                    "-g, --branch-history: neither call chains nor branches were recorded; record "
                    "with -g or -b");
    }
    if (session.branch_history() && plan.call_graph && (bits & abi::kSampleStackUser) != 0)
      return fail(ErrorCode::kFailed,
                  "branches are not put into call chains from copied stacks; record with "
                  "--call-graph fp, or leave out --branch-history and -g branch");
    if (o_.total_cycles && plan.rows != report::RowsOf::kBranches)
      return fail(ErrorCode::kFailed,
                  "--total-cycles: the recording has no branches with cycles; record with -b");
    if (plan.rows == report::RowsOf::kBranches && (bits & abi::kSampleBranchStack) == 0)
      return fail(ErrorCode::kFailed,
                  "-b: no branches were recorded; record with -b, on a processor that keeps them");
    return {};
  }

  std::unique_ptr<ReportOptions> own_;
  ReportOptions& o_;
};

}  // namespace

std::unique_ptr<Command> make_report() {
  return std::make_unique<ReportCommand>();
}

std::unique_ptr<Command> make_report_of(report::ReportOptions& options) {
  return std::make_unique<ReportCommand>(options);
}

}  // namespace sonde
