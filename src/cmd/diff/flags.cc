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
  return fail(ErrorCode::kUsage, "wdiff needs two whole numbers as weights: wdiff:1,2");
}

void declare_what(FlagTable& flags, DiffOptions& o) {
  flags.boolean('b', "baseline-only", o.baseline_only,
                "only rows that the baseline and another recording have");
  flags
      .call('c', "compute", "method",
            "how to compute differences: from shares (delta, delta-abs, the default), from periods "
            "(ratio, wdiff:w1,w2) or from the cycles of blocks (cycles)",
            [&o](std::string_view text) { return parse_method(text, o); })
      .offers({"delta", "delta-abs", "ratio", "wdiff:", "cycles"});
  flags.boolean('p', "period", o.show_period, "also show the period of each row in each recording");
  flags.boolean('F', "formula", o.show_formula, "also show how each difference was computed");
  flags.boolean(0, "noise", o.show_noise,
                "show how significant each difference is: an interval from the numbers of samples, "
                "and whether it is above their noise");
  flags.boolean(0, "above-noise", o.only_above_noise,
                "show only rows whose difference is above the noise");
  flags.number('o', "order", o.difference.sort_side, "n",
               "sort by the difference of this recording (default: 1); 0: by the baseline");
  flags.text('s', "sort", o.sort, "key[,key2...]",
             "a row for each combination of these: dso,symbol (default), comm, pid, cpu, srcline "
             "…; `report -h sort` has all");
  declare_by_name(flags, o.by_name);
  flags.boolean(
      0, "cycles-hist", o.cycles_histogram,
      "with -c cycles: also show how much the cycles of a block vary, as a percentage and as bars");
  flags.boolean(0, "stream", o.streams,
                "compare the hottest paths through branches, instead of rows (record -b)");
}

void declare_filters(FlagTable& flags, DiffOptions& o) {
  declare_names(flags, {.comms = 'C', .dsos = 'd', .symbols = 'S'}, o.comms, o.dsos, o.symbols);
  flags.call(0, "cpu", "cpu", "only samples of these CPUs", numbers_into(o.cpus));
  flags.call(0, "pid", "pid[,pid...]", "only samples of these processes", numbers_into(o.pids));
  flags.call(0, "tid", "tid[,tid...]", "only samples of these threads", numbers_into(o.tids));
  flags.call(
      0, "percentage", "relative|absolute",
      "shares are of all samples (absolute, the default) or of those that filters leave (relative)",
      relative_into(o.relative));
  flags.text(0, "time", o.time, "str",
             "only samples of this span: seconds (start,stop; with colons, one for each recording) "
             "or shares (10%-20%)");
}

void declare_output(FlagTable& flags, DiffOptions& o) {
  flags.text(
      't', "field-separator", o.separator, "separator",
      "put this between columns, and no blanks; where a value contains it, it becomes a dot");
  flags.count('v', "verbose", o.verbose,
              "show full paths of objects, addresses, and where symbols come from");
  flags.boolean('q', "quiet", o.quiet, "print rows only: no headings, notes and warnings");
  flags.boolean('f', "force", o.force, "read the recordings even if they belong to another user");
  flags.boolean('D', "dump-raw-trace", o.dump,
                "first print all records of each recording, byte by byte and decoded");
  declare_symbol_sources(flags, o.symbol_sources);
  declare_guest_files(flags, o.symbol_sources.guests);
  declare_guest_sides(flags, o.shows_host, o.shows_guests);
  flags.act('m', "modules", "load module symbols (they always are)", [] { return Result<>(); })
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
                "'{}' is no way to compare (-c, diff.compute): use delta, delta-abs, ratio, "
                "wdiff:w1,w2 or cycles",
                text);
  return {};
}

void declare_flags(FlagTable& flags, DiffOptions& o) {
  declare_what(flags, o);
  declare_filters(flags, o);
  declare_output(flags, o);
}

}  // namespace sonde::diff
