// c2c report: the cache lines that CPUs take from each other.
#include "c2c/browser.h"
#include "c2c/report_text.h"
#include "cli/argument_count.h"
#include "cmd/c2c/c2c.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "render/damage_text.h"
#include "replay/frames/prepare_lines.h"
#include "replay/frames/stitching.h"
#include "tui/terminal/browser_terminal.h"

namespace sonde {
namespace {

class C2cReport final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Shows the cache lines of a recording by `c2c record` that loads got from another CPU's cache, because that CPU had modified them (HITM): what the accesses were in all, the lines with the most such loads, and for each line the offsets that were accessed, with the code, its latencies, CPUs and nodes.)");
    declare_rows(flags);
    declare_what(flags);
    declare_symbol_sources(flags, symbols_);
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return !wants_browser(); }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    SessionOptions session_options;
    session_options.symbols = symbols_;
    session_options.chains.reset();
    if (!options_.only_counts && options_.call_graph.style != view::GraphStyle::kNone)
      session_options.chains = {.stitch_calls = stitch_calls_};
    session_options.want_symbols = !options_.only_counts;
    session_options.late_names = true;
    session_options.narrow = [this](const EventTable& events, const Features& /*features*/,
                                    SessionOptions& narrowed) {
      c2c::choose_branch_history(options_, events, narrowed);
    };
    Session session = TRY(input_.open_session(session_options, env));
    TRY(c2c::check_branch_history(options_, session));
    if (stitch_calls_) warn_about_stitching(session.recording(), env.err);
    complete_options(session);
    TRY(need_accesses(session.events(), env));
    if (session.samples().size() == 0)
      return fail(ErrorCode::kFailed, "{}: the recording has no samples; make one with c2c record",
                  input_.chosen_path(env));
    if (!options_.only_counts && options_.source_lines) prepare_lines(session);
    return show(session, env);
  }

 private:
  [[nodiscard]] Result<> need_accesses(const EventTable& events, const Env& env) const {
    for (const EventDesc& event : events.all())
      if (event.attr.samples(abi::kSampleDataSrc)) return {};
    return fail(ErrorCode::kFailed,
                "{}: no event says where data came from; '{} c2c record' makes such a recording",
                input_.chosen_path(env), env.tool);
  }
  [[nodiscard]] bool wants_browser() const {
    return browser_.value_or(true) && !options_.only_counts;
  }

  void declare_rows(FlagTable& flags) {
    flags
        .call('c', "coalesce", "coalesce fields",
              "rows of a line differ in their offset and these: pid, tid, iaddr (the code, "
              "default), dso",
              [this](std::string_view words) -> Result<> {
                options_.fields = TRY(c2c::parse_row_fields(words));
                return {};
              })
        .offers({"pid", "tid", "iaddr", "dso"});
    flags
        .call('d', "display", "tot|lcl|rmt|peer",
              "which loads count: HITM (tot, default; on Arm peer), in the same node (lcl), in "
              "others (rmt), from any cache (peer)",
              [this](std::string_view word) -> Result<> {
                options_.display = TRY(c2c::parse_display(word));
                has_display_ = true;
                return {};
              })
        .offers({"tot", "lcl", "rmt", "peer"});
    flags.count('N', "node-info", node_info_,
                "show the share of each node in a row's accesses; -NN: the CPUs of each node");
    flags.boolean(0, "double-cl", double_lines_,
                  "take two adjacent lines, which some processors fetch together, as one");
    flags.boolean(0, "show-all", options_.show_all,
                  "also show lines with less than a thousandth of the loads that -d chooses");
  }

  void declare_what(FlagTable& flags) {
    flags.boolean(0, "full-symbols", options_.full_symbols,
                  "do not cut the names of functions (default: at 30 characters)");
    flags.boolean(0, "no-source", no_source_, "leave out the column with source lines");
    flags.boolean(0, "stats", options_.only_counts,
                  "print only how many accesses there were of each kind, no lines");
    flags.choose(0, "stdio", browser_, std::optional(false),
                 "print text, instead of opening the browser");
    flags.choose(0, "tui", browser_, std::optional(true),
                 "open the browser (default on a terminal)");
    flags
        .call('g', "call-graph", "print_type,threshold[,print_limit],order,sort_key[,branch],value",
              "show who called the code of each row, as report -g does (default, if it was "
              "recorded); none: do not",
              [this](std::string_view text) {
                return report::parse_call_graph(text, options_.call_graph);
              })
        .when_last("graph,0.5,caller,function,percent");
    flags.boolean(0, "stitch-lbr", stitch_calls_,
                  "complete call stacks of record --call-graph lbr by those of preceding samples");
  }

  /// Arm's processors report transfers between caches, but not whether the line was modified.
  void complete_options(const Session& session) {
    if (!has_display_ && session.recording().features().arch.value_or("") == "aarch64")
      options_.display = c2c::Display::kPeer;
    options_.node_info = static_cast<c2c::NodeInfo>(std::min(node_info_, 2));
    if (double_lines_) options_.line_bytes *= 2;
    options_.source_lines = !no_source_;
  }

  Result<int> show(const Session& session, Env& env) const {
    c2c::Nodes nodes(session.recording().features());
    c2c::CacheLines lines = c2c::find_cache_lines(session, nodes, options_);
    c2c::RowTexts texts(session, input_.verbose > 0);
    c2c::RowTrees trees(session, options_.call_graph);
    c2c::Named named{texts, trees};
    if (wants_browser() && can_browse(env)) return c2c::browse(lines, named, nodes, options_, env);
    if (browser_.value_or(false))
      env.err.write("--tui: there is no terminal to show it on; this is the text of --stdio\n");
    render::write_damage(env.out, env.losses);
    c2c::write_counts(lines, env.out);
    std::vector<std::string> events;
    for (const EventDesc& event : session.events().all()) events.push_back(event.name);
    c2c::write_lines(lines, named, nodes, options_, events, env.out);
    return 0;
  }

  c2c::Options options_;
  std::optional<bool> browser_;  // --tui, --stdio
  bool has_display_ = false, double_lines_ = false, no_source_ = false, stitch_calls_ = false;
  int node_info_ = 0;
  SymbolOptions symbols_;
  RecordingInput input_;
};

}  // namespace

std::unique_ptr<Command> make_c2c_report() {
  return std::make_unique<C2cReport>();
}

}  // namespace sonde
