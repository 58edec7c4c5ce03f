#include "cmd/heatmap/flags.h"

#include <charconv>
#include <cmath>

#include "base/option_values.h"
#include "base/text.h"
#include "cmd/options/profile_flags.h"

namespace sonde {
namespace {

void declare_points(FlagTable& flags, HeatMapOptions& o) {
  flags.group("Where the points come from");
  flags.text('i', "input", o.input, "file",
             "recording, or text with a time and a latency in each line");
  flags.boolean('f', "force", o.force, "read the recording even if another user owns it");
  flags.call(0, "from", "event[,event...]",
             "latency from this event (a glob may name several) to that of --to",
             words_into(o.from));
  flags.call(0, "to", "event[,event...]", "the event that ends what --from begins",
             words_into(o.to));
  flags.call(0, "key", "field[,field...]",
             "fields that make two events a pair; `a=b' if the second event calls it b, `a+8=b' if "
             "it is 8 more there. Besides "
             "the fields of the events there are tid, pid and cpu. Default: what is known about "
             "the events (dev,sector for block requests), else tid",
             words_into(o.key));
  flags.boolean(0, "nested", o.nested,
                "a --from inside another is a nested call: the last one ends first");
  flags.text('e', "event", o.event, "event", "values, or times, of this event");
  flags.text(0, "field", o.field, "field", "draw the values of this field of -e");
  flags.boolean(
      0, "subsecond", o.by_second,
      "draw when events happened: a column per second, and in it the offset in the second");
  flags.text(0, "range", o.range, "start,stop",
             "with --subsecond: the flame graph of a range chosen in the map");
  flags.text(0, "time", o.time, "str",
             "only this span: start,stop in seconds, or shares of the recording such as 10%-20%");
  flags.call('p', "pid", "pid[,pid...]", "only events of these processes", numbers_into(o.pids));
  flags.call('t', "tid", "tid[,tid...]", "only events of these threads", numbers_into(o.tids));
}

Result<> set_scale(std::string_view word, std::optional<HeatScale>& scale) {
  if (word == "linear")
    scale = HeatScale::kLinear;
  else if (word == "log")
    scale = HeatScale::kLog;
  else if (word == "auto")
    scale = HeatScale::kAuto;
  else
    return fail(ErrorCode::kUsage, "expects linear, log or auto, not '{}'", word);
  return {};
}

void declare_grid(FlagTable& flags, HeatMapOptions& o) {
  flags.group("Axes");
  flags.text(0, "unitstime", o.unit_of_time, "s|ms|us|ns", "unit of the first column of text (s)")
      .offers({"s", "ms", "us", "ns"});
  flags.text(0, "unitslatency", o.unit_of_values, "unit",
             "unit of the second column of text, for labels; for recordings: the unit of --minlat, "
             "--maxlat and --steplat (us), one of s, ms, us, ns");
  flags.text(0, "unitslabel", o.unit_of_values, "unit", "same as --unitslatency");
  flags.text(0, "minlat", o.least, "n", "smallest latency or value to draw");
  flags.text(0, "maxlat", o.largest, "n", "largest latency or value to draw");
  flags.number(0, "rows", o.rows, "n", "number of rows (at most 50, with round boundaries)");
  flags.text(0, "steplat", o.row_step, "n", "height of a row, instead of --rows");
  flags.number(
      0, "stepsec", o.column_s, "s",
      "seconds per column, may be a fraction (a round number that gives at most 150 columns)");
  flags.number(0, "maxcol", o.last_column, "n", "number of the last column, the first being 0");
  flags
      .call(0, "scale", "linear|log|auto",
            "of the values; auto: logarithmic if the largest is 100 times the smallest or more "
            "(linear for text, auto for recordings)",
            [&o](std::string_view word) { return set_scale(word, o.scale); })
      .offers({"linear", "log", "auto"});
}

void declare_picture(FlagTable& flags, HeatMapOptions& o) {
  flags.group("The picture");
  flags.text('o', "output", o.output, "file", "file to write (standard output)");
  flags.text(0, "title", o.title, "text", "title");
  flags.text(0, "xlabel", o.x_label, "text", "label below the time axis");
  flags.text(0, "ylabel", o.y_label, "text", "label above the value axis");
  flags.text(0, "fonttype", o.style.font_family, "font", "font (Verdana)");
  flags.number(0, "fontsize", o.style.font_size, "px", "font size (12)");
  flags.number(0, "boxsize", o.style.box_size, "px", "width and height of a box");
  flags.boolean(0, "grid", o.style.grid, "draw grid lines");
}

bool is_time_unit(std::string_view unit) {
  return per_second(unit).has_value();
}

/// "20", "1.5ms".
Result<std::optional<double>> amount(std::string_view name, std::string_view text,
                                     bool values_are_times, const std::string& usual_unit) {
  if (text.empty()) return std::optional<double>();
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  bool is_good = error == std::errc() && std::isfinite(value) &&
                 (unit.empty() || (values_are_times && is_time_unit(unit)));
  if (!is_good)
    return fail(ErrorCode::kUsage, "--{} takes a number{}, not '{}'", name,
                values_are_times ? ", optionally followed by s, ms, us or ns" : "", text);
  if (!values_are_times) return std::optional(value);
  constexpr double kSecondNs = 1e9;
  double units = TRY(per_second(unit.empty() ? std::string_view(usual_unit) : unit));
  return std::optional(value * (kSecondNs / units));
}

}  // namespace

void declare_heatmap_flags(FlagTable& flags, HeatMapOptions& o) {
  declare_points(flags, o);
  declare_grid(flags, o);
  declare_picture(flags, o);
  flags.group("Symbols, for --range");
  declare_symbol_sources(flags, o.symbols);
}

Result<> check_heatmap_options(const HeatMapOptions& o) {
  if (o.from.empty() != o.to.empty())
    return fail(ErrorCode::kUsage, "--from and --to go together: a pair has two events");
  if (o.from.empty() && (!o.key.empty() || o.nested))
    return fail(ErrorCode::kUsage, "--key and --nested are for pairs (--from, --to)");
  if (!o.from.empty() && (!o.event.empty() || o.by_second))
    return fail(ErrorCode::kUsage,
                "--from, --to and -e, --subsecond draw different pictures: choose one");
  if (!o.range.empty() && !o.by_second) return fail(ErrorCode::kUsage, "--range needs --subsecond");
  if (!o.field.empty() && (o.event.empty() || o.by_second))
    return fail(ErrorCode::kUsage, "--field names a field of -e, and is not for --subsecond");
  if (!o.event.empty() && o.field.empty() && !o.by_second)
    return fail(ErrorCode::kUsage,
                "-e {}: of what? --field names a field of it, --subsecond shows when it was",
                o.event);
  if (!(o.style.font_size >= 1 && o.style.font_size <= 100))
    return fail(ErrorCode::kUsage, "--fontsize goes from 1 to 100");
  if (o.style.box_size && !(*o.style.box_size >= 1 && *o.style.box_size <= 200))
    return fail(ErrorCode::kUsage, "--boxsize goes from 1 to 200");
  return {};
}

Result<double> per_second(std::string_view unit) {
  constexpr double kSecondNs = 1e9;
  auto ns = unit.empty() ? std::nullopt : time_unit_ns(unit, 1);
  if (ns) return kSecondNs / static_cast<double>(*ns);
  return fail(ErrorCode::kUsage, "'{}' is no unit of time: s, ms, us, ns", unit);
}

Result<HeatGridOptions> grid_options(const HeatMapOptions& o, bool values_are_times) {
  std::string unit = o.unit_of_values.empty() ? "us" : o.unit_of_values;
  HeatGridOptions grid;
  grid.scale = o.scale.value_or(o.needs_recording() || values_are_times ? HeatScale::kAuto
                                                                        : HeatScale::kLinear);
  grid.step_s = o.column_s;
  grid.last_column = o.last_column;
  grid.rows = o.rows;
  grid.min_value = TRY(amount("minlat", o.least, values_are_times, unit));
  grid.max_value = TRY(amount("maxlat", o.largest, values_are_times, unit));
  grid.value_step = TRY(amount("steplat", o.row_step, values_are_times, unit));
  if (o.rows && *o.rows == 0) return fail(ErrorCode::kUsage, "--rows must be at least 1");
  return grid;
}

}  // namespace sonde
