#include "cmd/diff/flags.h"

#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"

namespace sonde::diff {
namespace {

Result<> parse_weights(std::string_view text, RowDifference::Options& options) {
  size_t comma = text.find(',');
  if (comma != std::string_view::npos) {
    auto baseline = number_from<int64_t>(text.substr(0, comma));
    auto data = number_from<int64_t>(text.substr(comma + 1));
    if (baseline && data) {
      options.baseline_weight = *baseline;
      options.data_weight = *data;
      return {};
    }
  }
  return fail(ErrorCode::kUsage, "Failed: wrong weight data, use 'wdiff:w1,w2'");
}

void declare_what(FlagTable& flags, DiffOptions& o) {
  flags.boolean('b', "baseline-only", o.baseline_only, "Show only items with match in baseline");
  flags
      .call('c', "compute", "delta,delta-abs,ratio,wdiff:w1,w2 (default delta-abs),cycles",
            "Entries differential computation selection",
            [&o](std::string_view text) { return parse_method(text, o); })
      .offers({"delta", "delta-abs", "ratio", "wdiff:", "cycles"});
  flags.boolean('p', "period", o.show_period, "Show period values.");
  flags.boolean('F', "formula", o.show_formula, "Show formula.");
  flags.boolean(0, "noise", o.show_noise,
                "Show how significant each difference is: an interval from the numbers of samples, "
                "and whether it is above their noise");
  flags.boolean(0, "above-noise", o.only_above_noise,
                "Show only rows whose difference is above the noise");
  flags.number('o', "order", o.difference.sort_side, "n", "Specify compute sorting.");
  flags.text('s', "sort", o.sort, "key[,key2...]",
             "sort by key(s): pid, comm, dso, symbol, parent, cpu, srcline, ... Please refer the "
             "man page for the complete list.");
  flags.boolean(0, "cycles-hist", o.cycles_histogram,
                "Show cycles histogram and standard deviation - WARNING: use only with -c cycles.");
  flags.boolean(0, "stream", o.streams, "Enable hot streams comparison.");
}

void declare_filters(FlagTable& flags, DiffOptions& o) {
  declare_names(flags, {.comms = 'C', .dsos = 'd', .symbols = 'S'}, o.comms, o.dsos, o.symbols);
  flags.call(0, "cpu", "cpu", "list of cpus to profile", numbers_into(o.cpus));
  flags.call(0, "pid", "pid[,pid...]", "only consider symbols in these pids", numbers_into(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only consider symbols in these tids", numbers_into(o.tids));
  flags.call(0, "percentage", "relative|absolute", "How to display percentage of filtered entries",
             relative_into(o.relative));
  flags.text(0, "time", o.time, "str", "Time span (time percent or absolute timestamp)");
}

void declare_output(FlagTable& flags, DiffOptions& o) {
  flags.text('t', "field-separator", o.separator, "separator",
             "separator for columns, no spaces will be added between columns '.' is reserved.");
  flags.count('v', "verbose", o.verbose, "be more verbose (show symbol address, etc)");
  flags.boolean('q', "quiet", o.quiet, "Do not show any warnings or messages");
  flags.boolean('f', "force", o.force, "don't complain, do it");
  flags.boolean('D', "dump-raw-trace", o.dump, "dump raw trace in ASCII");
  declare_symbol_sources(flags, o.symbol_sources);
  declare_guest_files(flags, o.symbol_sources.guests);
  declare_guest_sides(flags, o.shows_host, o.shows_guests);
  flags
      .act('m', "modules", "load module symbols - WARNING: use only with -k and LIVE kernel",
           [] { return Result<>(); })
      .without_effect("symbols of modules are always loaded");
}

}  // namespace

Result<> parse_method(std::string_view text, DiffOptions& all) {
  RowDifference::Options& options = all.difference;
  all.cycles = text == "cycles";
  if (all.cycles) return {};
  if (text.starts_with("wdiff")) {
    options.method = DiffMethod::kWeighted;
    return parse_weights(text.starts_with("wdiff:") ? text.substr(6) : "", options);
  }
  if (text == "delta")
    options.method = DiffMethod::kDelta;
  else if (text == "delta-abs")
    options.method = DiffMethod::kDeltaAbs;
  else if (text == "ratio")
    options.method = DiffMethod::kRatio;
  else
    return fail(ErrorCode::kUsage,
                "Failed: '{}' is not computation method (use 'delta','ratio' or 'wdiff')", text);
  return {};
}

void declare_flags(FlagTable& flags, DiffOptions& o) {
  declare_what(flags, o);
  declare_filters(flags, o);
  declare_output(flags, o);
}

}  // namespace sonde::diff
