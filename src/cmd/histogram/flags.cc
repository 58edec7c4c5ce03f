#include "cmd/histogram/flags.h"

#include <cmath>

#include "base/option_values.h"

namespace sonde {
namespace {

void declare_what(FlagTable& flags, HistogramOptions& o) {
  flags.group("What is measured");
  flags.text(0, "from", o.from, "event", "the time from this event (a glob may name several)");
  flags.text(0, "to", o.to, "event", "to this one");
  flags.call(0, "key", "field[,field...]",
             "fields that make two events a pair; `a=b' if the second event calls it b, `a+8=b' if "
             "it is 8 more there. Besides the fields of the events there are tid, pid and cpu. "
             "Default: what is known about the events (dev,sector for block requests), else tid",
             words_into(o.key));
  flags.text('x', "exec", o.executable, "executable|path",
             "events are functions of this program or library, as `probe' defines them");
  flags.boolean(0, "kernel", o.functions, "events are functions of the kernel");
  flags.text(0, "filter", o.filter, "filter",
             "count only events with these fields, as in \"ret > 0 && comm == dd\"; of a pair: "
             "of the first event");
  flags.text('i', "input", o.input, "file", "events of this recording, instead of live ones");
  flags.boolean('f', "force", o.force, "read the recording even if another user owns it");
  flags.group("Histograms");
  flags.text(0, "by", o.by, "field|comm|pid|tid|cpu", "one histogram for each value of this")
      .offers({"comm", "pid", "tid", "cpu"});
  flags.text(0, "linear", o.linear, "step,min,max",
             "buckets of one size, instead of powers of two; times may have a unit (10us,0,1ms)");
}

Result<> read_seconds(std::string_view word, double& seconds) {
  seconds = TRY(number_from<double>(word));
  constexpr double kLeast = 0.01;
  if (std::isfinite(seconds) && seconds >= kLeast) return {};
  return fail(ErrorCode::kUsage, "expects a number of seconds, at least {}", kLeast);
}

void declare_whom(FlagTable& flags, HistogramOptions& o) {
  flags.group("Whose events, and how long");
  flags.text('p', "pid", o.pids, "pid[,pid...]", "of these processes, and those they start");
  flags.text('t', "tid", o.tids, "tid[,tid...]", "of these threads, and those they start");
  flags.boolean('a', "all-cpus", o.all_cpus, "of all, though there is a command");
  flags.text('C', "cpu", o.cpus, "cpu", "on these CPUs only");
  flags.call(0, "interval", "seconds", "show the histograms of each interval, then the whole",
             [&o](std::string_view word) { return read_seconds(word, o.interval_s); });
  flags.call(0, "duration", "seconds", "end after this time",
             [&o](std::string_view word) { return read_seconds(word, o.duration_s); });
  flags.number(0, "map-nr-entries", o.most_cells, "n",
               "room in the kernel for this many buckets, and for as many events without their "
               "second one (8192); what does not fit is counted");
}

void declare_output(FlagTable& flags, HistogramOptions& o) {
  flags.group("Output");
  flags.number('E', "entries", o.entries, "n", "show this many histograms (20)");
  flags.boolean(0, "json", o.json, "a JSON object on one line, for each interval and the whole");
  flags.text(0, "svg", o.svg, "file", "draw the whole as a picture, too");
  flags.text('o', "output", o.output, "file", "write to this file instead of standard output");
  flags.count('v', "verbose", o.verbose, "say where probes are, and what they cannot read");
}

Result<> check_what(const HistogramOptions& o) {
  if (o.from.empty() != o.to.empty())
    return fail(ErrorCode::kUsage, "--from and --to go together: a pair has two events");
  if (o.from.empty() && o.event.empty())
    return fail(ErrorCode::kUsage, "which event? EVENT FIELD, or --from and --to");
  bool of_function = o.functions || !o.executable.empty();
  bool is_usdt = o.event.starts_with('%') || o.event.starts_with("sdt_");
  if (o.from.empty() && o.field.empty() && (!of_function || is_usdt))
    return fail(ErrorCode::kUsage,
                "{}: which field? EVENT FIELD shows its values; --from and --to times; -x PROGRAM "
                "FUNCTION how long calls take",
                o.event);
  if (o.from.empty() && !o.field.empty() && !o.key.empty())
    return fail(ErrorCode::kUsage, "--key is for pairs (--from, --to)");
  if (o.functions && !o.executable.empty())
    return fail(ErrorCode::kUsage, "-x and --kernel exclude each other");
  return {};
}

Result<> check_whom(const HistogramOptions& o) {
  if (!o.pids.empty() && !o.tids.empty())
    return fail(ErrorCode::kUsage, "-p and -t exclude each other");
  if (o.most_cells == 0 || o.most_cells > (1u << 24))
    return fail(ErrorCode::kUsage, "--map-nr-entries goes from 1 to {}", 1u << 24);
  if (!o.input) return {};
  bool is_live = o.interval_s > 0 || o.duration_s > 0 || o.all_cpus || !o.command.empty() ||
                 !o.executable.empty() || o.functions;
  if (is_live)
    return fail(ErrorCode::kUsage,
                "-i reads a recording: -x, --kernel, -a, --interval, --duration and a command are "
                "for live events");
  return {};
}

}  // namespace

void declare_histogram_flags(FlagTable& flags, HistogramOptions& o) {
  declare_what(flags, o);
  declare_whom(flags, o);
  declare_output(flags, o);
}

Result<> finish_histogram_options(HistogramOptions& o, const Arguments& arguments) {
  auto middle = arguments.words.begin() + static_cast<std::ptrdiff_t>(arguments.before_dashes);
  std::vector<std::string> words(arguments.words.begin(), middle);
  o.command.assign(middle, arguments.words.end());
  if (o.from.empty() && !words.empty()) {
    o.event = words.front();
    words.erase(words.begin());
    if (!words.empty()) {
      o.field = words.front();
      words.erase(words.begin());
    }
  }
  if (!words.empty())
    return fail(ErrorCode::kUsage, "'{}' is too much: a command follows --", words.front());
  TRY(check_what(o));
  return check_whom(o);
}

}  // namespace sonde
