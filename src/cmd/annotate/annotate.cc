// `annotate`: the code of functions, and which of their instructions the samples hit.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "cmd/annotate/browser.h"
#include "cmd/annotate/data.h"
#include "cmd/annotate/flags.h"
#include "cmd/annotate/nothing.h"
#include "cmd/options/listing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "datatype/listing_types.h"
#include "render/damage_text.h"
#include "render/listing_columns.h"
#include "replay/branches/branch_events.h"
#include "report/counts.h"
#include "report/outside.h"
#include "script/dump_tail.h"
#include "tui/terminal/browser_terminal.h"

namespace sonde {
namespace {

using annotate::FunctionHits;
using annotate::RecordingHits;

/// Functions that a message names; of more it says how many.
constexpr size_t kMaxNames = 3;

class AnnotateCommand final : public Command {
 public:
  Result<> configure(const Config& config) override {
    if (auto style = config.get("annotate.disassembler_style"))
      o_.listing.syntax = *style == "intel" ? disasm::Syntax::kIntel : disasm::Syntax::kAtt;
    if (!TRY(config.get_bool("tui.annotate", true))) o_.browser = false;
    return {};
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<symbol>]");
    flags.description(
        R"(Shows the code of the functions that a recording's samples fell on: instructions, the share of the samples that fell on each, and source lines between them if there is debug information. Without a symbol, every function with samples is shown, heaviest first, event by event.

Code comes from the files that ran, from jitdumps, and from BPF programs stored in the recording. No other program is run: sonde decodes instructions itself. Functions whose code is not available are left out; at the end a line for each object names them and what would help.)");
    annotation::declare_flags(flags, o_);
  }

  [[nodiscard]] bool paged() const override { return !wants_browser(); }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (!arguments.empty()) o_.symbol = arguments[0];
    o_.input = input().chosen_path(env);
    TRY(check_options(env));
    name_frame_functions(o_.symbol_sources, env);
    Session session = TRY(open(env, o_.symbol));
    if (o_.dump) return dump(env, session);
    if (o_.data_type)
      return annotation::annotate_data(
          session, o_, columns_of(session),
          [&](const Frame& frame) { return wants(session, frame); }, env);
    return annotate_all(env, session);
  }

 private:
  [[nodiscard]] RecordingInput input() const { return {.path = o_.input, .force = o_.force}; }
  [[nodiscard]] bool wants_browser() const {
    bool asks_text = o_.dump || o_.formatted || o_.listing.places || input().is_standard_input() ||
                     o_.data_type.has_value();
    return o_.browser.value_or(true) && !asks_text;
  }

  Result<> check_options(Env& env) {
    if (o_.type_counts && !o_.data_type)
      return fail(ErrorCode::kUsage, "--type-stat counts types of data: give --data-type, too");
    if (o_.instruction_counts && !o_.data_type)
      return fail(ErrorCode::kUsage, "--insn-stat counts types of data: give --data-type, too");
    if (o_.code_types && o_.data_type)
      return fail(ErrorCode::kUsage,
                  "--code-with-type shows code, --data-type shows types: give one");
    TRY(check_listing(o_.listing));
    if (o_.objdump && !o_.quiet)
      env.err.print("--objdump {}: not run; sonde decodes instructions itself\n", *o_.objdump);
    o_.listing.demangle = o_.symbol_sources.demangle;
    return {};
  }

  /// With `only`, the samples of other functions may be missing.
  Result<Session> open(Env& env, const std::optional<std::string>& only) const {
    SessionOptions options;
    options.symbols = o_.symbol_sources;
    options.filter.cpus = o_.cpus;
    options.itrace = o_.itrace;
    if (!options.itrace && !o_.dump)
      options.itrace = TRY(parse_itrace("", ItraceDefaults::kProfile));
    options.want_symbols = !o_.dump;
    options.chains.reset();
    if (!o_.dump) options.rows = rows(env, only);
    // Branch stacks are read from the samples themselves.
    options.narrow = [](const EventTable& events, const Features&, SessionOptions& wanted) {
      if (has_branch_stacks(events)) wanted.rows = EachSample();
    };
    return input().open_session(std::move(options), env);
  }

  [[nodiscard]] SampleRows rows(const Env& env, const std::optional<std::string>& only) const {
    if (o_.data_type) return SumsByStack();
    // In the browser the user may go on to other functions.
    bool is_one = !o_.code_types && !(wants_browser() && can_browse(env));
    return SumsByPlace{is_one ? only : std::nullopt};
  }

  Result<int> dump(Env& env, const Session& session) const {
    dump_session(session, o_.cpus, env.losses, env.out);
    return 0;
  }

  [[nodiscard]] bool wants(const Session& session, const Frame& frame) const {
    if (!frame.dso.valid()) return !o_.symbol && o_.dsos.empty();
    if (!annotation::wants_object(o_, session.machine().dsos()[frame.dso])) return false;
    if (!o_.symbol) return true;
    return frame.symbol.valid() && session.symbolizer().name(frame.symbol) == *o_.symbol;
  }

  Result<int> annotate_all(Env& env, const Session& session) {
    RecordingHits hits = annotate::count_hits(
        session, [&](const Frame& frame) { return wants(session, frame); },
        o_.symbol || !o_.dsos.empty() ? annotate::SharesOf::kWantedSamples
                                      : annotate::SharesOf::kAllSamples);
    if (hits.functions.empty()) {
      if (session.has_one_function()) return explain_nothing(env);
      return annotation::report_nothing(session, o_, env);
    }
    if (wants_browser() && can_browse(env))
      return annotation::browse(session, hits, columns_of(session), o_, env);
    if (o_.browser.value_or(false))
      env.err.write("--tui: there is no terminal to show it on; this is the text of --stdio\n");
    if (!o_.quiet) render::write_damage(env.out, env.losses);
    annotate::ListingBuilder maker(session, o_.listing);
    if (o_.code_types) types_ = std::make_unique<datatype::SessionTypes>(session);
    for (const std::vector<EventId>& events : columns_of(session)) {
      size_t leader = events[0].index();
      for (size_t function : hits.by_weight(leader)) {
        if (is_below_limit(hits, function, leader)) continue;
        write_function(env, maker, hits, hits.functions[function], events);
        if (env.out.failed() != 0) return 0;
      }
    }
    if (types_ && !o_.quiet)
      for (const std::string& note : types_->notes()) env.err.print("{}\n", note);
    if (o_.skip_missing) return 0;
    if (!o_.quiet) write_left_out(env);
    return wrote_any_ || left_out_.empty() ? 0 : 1;
  }

  /// The reason why nothing is shown depends on what the recording has.
  Result<int> explain_nothing(const Env& env) {
    report::Outside again(env);  // losses are already counted
    Session session = TRY(open(again.env, std::nullopt));
    return annotate_all(again.env, session);
  }

  /// The events shown side by side, one element per table.
  [[nodiscard]] std::vector<std::vector<EventId>> columns_of(const Session& session) const {
    std::vector<std::vector<EventId>> rows;
    for (size_t i = 0; i < session.events().size(); ++i) {
      EventId event(i);
      const EventDesc& desc = session.events()[event];
      bool joins = o_.group ? !rows.empty() : desc.leader.valid() && desc.leader != event;
      if (!joins) {
        rows.push_back({event});
        continue;
      }
      for (std::vector<EventId>& row : rows)
        if (o_.group || row[0] == desc.leader) {
          row.push_back(event);
          break;
        }
    }
    return rows;
  }

  [[nodiscard]] bool is_below_limit(const RecordingHits& hits, size_t function,
                                    size_t event) const {
    uint64_t all = hits.totals[event].period;
    uint64_t part = hits.functions[function].totals[event].period;
    if (o_.percent_limit <= 0 || all == 0) return false;
    return 100.0 * static_cast<double>(part) / static_cast<double>(all) < o_.percent_limit;
  }

  void write_function(Env& env, annotate::ListingBuilder& maker, const RecordingHits& hits,
                      const FunctionHits& function, const std::vector<EventId>& events) {
    auto listing = maker.make(function, hits, events);
    if (!listing) return leave_out(function.info, listing.error());
    wrote_any_ = true;
    if (types_) datatype::add_types(function, *types_, *listing);
    if (o_.verbose > 0)
      env.err.print("{}: {:#x} to {:#x} of {}\n", listing->function, listing->start, listing->end,
                    listing->path);
    for (EventId event : events) listing->shown.push_back(hits.totals[event.index()]);
    render::ListingTextOptions text{
        .column = o_.column,
        .percent = o_.listing.percent,
        .color = o_.color == "always" || (o_.color == "auto" && env.out.is_terminal()),
        .raw = o_.listing.raw,
        .summary = o_.listing.places};
    if (o_.formatted)
      render::write_listing_columns(env.out, *listing, text);
    else
      render::write_listing(env.out, *listing, text);
  }

  /// Functions without code do not keep the others, of the same object or not, from being shown.
  void leave_out(const SymbolInfo& function, const Error& why) {
    auto same = std::ranges::find(left_out_, function.dso, &LeftOut::dso);
    LeftOut& object =
        same == left_out_.end() ? left_out_.emplace_back(function.dso, why.message) : *same;
    // A function is tried once per event.
    if (object.starts.insert(function.start).second && object.names.size() <= kMaxNames)
      object.names.emplace_back(function.name);
  }

  void write_left_out(Env& env) const {
    for (const LeftOut& object : left_out_) {
      std::vector<std::string> names = object.names;
      if (object.starts.size() > names.size())
        names.back() = fmt::format("{} more", object.starts.size() - kMaxNames);
      env.err.print("Couldn't annotate {}: {}\n", join(names, ", "), object.why);
    }
  }

  annotation::Options o_;
  /// The functions of an object whose code was not found, and why the first one's was not.
  struct LeftOut {
    DsoId dso;
    std::string why;
    std::set<uint64_t> starts;
    std::vector<std::string> names;  // the first ones
  };
  std::vector<LeftOut> left_out_;
  bool wrote_any_ = false;
  std::unique_ptr<datatype::SessionTypes> types_;  // if needed
};

}  // namespace

std::unique_ptr<Command> make_annotate() {
  return std::make_unique<AnnotateCommand>();
}

}  // namespace sonde
