// `heatmap`: latencies, values and times of events on a grid of time and value.
#include <sys/stat.h>

#include "analysis/latencies/latency_text.h"
#include "analysis/latencies/session_latencies.h"
#include "base/files/regular_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/heatmap/flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "export/pictures/flame_svg.h"
#include "export/pictures/svg.h"
#include "replay/fields/time_ranges.h"
#include "stacks/profile_source.h"

namespace sonde {
namespace {

constexpr size_t kMaxLatencyTextSize = size_t{4} << 30;
constexpr uint64_t kSecondOfNs = 1'000'000'000;
constexpr size_t kRowsOfASecond = 50;

/// Quotes a word for a shell.
std::string quoted_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// "3 begins without an end", and so on: what is not in the picture.
class Remarks {
 public:
  void add(uint64_t count, std::string_view what) {
    if (count > 0)
      words_.push_back(fmt::format("{} {}", grouped(static_cast<double>(count)), what));
  }
  [[nodiscard]] std::string text() const { return join(words_, "; "); }

 private:
  std::vector<std::string> words_;
};

class HeatMapCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<file>]");
    flags.usage("--from <event> --to <event> [--key <field>,...] [<options>]");
    flags.usage("-e <event> --field <field> [<options>]");
    flags.usage("--subsecond [-e <event>] [<options>]");
    flags.description(
        R"(Draws how many events fell into each cell of a grid of time and value, as one SVG file. The values are latencies
between pairs of events of a recording (--from, --to), the values of a field of an event (-e, --field), or the second column
of text whose lines have a time and a latency. --subsecond draws when events happened: a column for each second, and in
it the offset within the second.

Hover over a box to see what it represents. Two clicks select a time range; the picture then shows how to pass it to
commands.)");
    flags.section("EXAMPLES",
                  R"(  sonde record -e block:block_rq_issue,block:block_rq_complete -a -- sleep 10
  sonde heatmap --from block:block_rq_issue --to block:block_rq_complete -o disk.svg
  sonde heatmap --from syscalls:sys_enter_read --to syscalls:sys_exit_read --maxlat 5ms -o read.svg
  sonde heatmap --unitstime us --unitslatency us latencies.txt > map.svg)");
    declare_heatmap_flags(flags, options_);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (!arguments.empty()) options_.input = arguments[0];
    TRY(check_heatmap_options(options_));
    name_frame_functions(options_.symbols, env);
    if (!options_.range.empty()) return draw_range(env);
    bool is_recording = options_.needs_recording() || TRY(looks_like_recording());
    view::HeatMap map = is_recording ? TRY(of_recording(env)) : TRY(of_text(env));
    finish_style();
    OutputFile file = TRY(OutputFile::open(options_.output, env));
    write_heat_map_svg(file.sink(), map, options_.style);
    TRY(file.finish());
    if (!remarks_.empty()) env.err.write_lines(remarks_ + "\n");
    return 0;
  }

 private:
  Result<bool> looks_like_recording() const {
    if (!options_.input || *options_.input == "-") return false;
    struct stat status{};
    if (::stat(options_.input->c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return true;
    if (S_ISFIFO(status.st_mode)) return false;
    MappedFile file = TRY(MappedFile::open(*options_.input));
    std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.size());
    return format_of(text) == ProfileFormat::kRecording;
  }

  // Text.

  Result<view::HeatMap> of_text(Env& env) {
    std::string path = options_.input.value_or("-");
    if (path != "-" && !status_of_regular(path))
      return of_lines(TRY(read_stream(path, kMaxLatencyTextSize)), path);
    if (path != "-") {
      MappedFile file = TRY(MappedFile::open(path));
      return of_lines({reinterpret_cast<const char*>(file.bytes().data()), file.size()}, path);
    }
    std::string text = TRY(read_all(env.in_fd, "standard input", kMaxLatencyTextSize));
    if (format_of(text) == ProfileFormat::kRecording)
      return fail(
          ErrorCode::kFailed,
          "standard input is a recording: choose events with --from and --to, -e and --field, "
          "or --subsecond");
    return of_lines(text, "standard input");
  }
  Result<view::HeatMap> of_lines(std::string_view text, const std::string& name) {
    LatencyText read = TRY(read_latency_text(text, name));
    double units = TRY(per_second(options_.unit_of_time));
    std::vector<HeatPoint> points;
    points.reserve(read.lines.size());
    for (const LatencyText::Line& line : read.lines)
      points.push_back({line.time / units, line.latency});
    Remarks remarks;
    remarks.add(read.skipped, fmt::format("lines without a time and a latency (the first is line "
                                          "{})",
                                          read.first_skipped));
    remarks_ = remarks.text();
    note(points.size(), "events");
    title("Latency");
    options_.style.unit = options_.unit_of_values;
    if (auto per = per_second(options_.unit_of_values))
      options_.style.ns_per_value = kSecondOfNs / *per;
    return make_heat_map(points, TRY(grid_options(options_, false)));
  }

  // Recordings.

  Result<view::HeatMap> of_recording(Env& env) {
    RecordingInput input{.path = options_.input.value_or(""), .force = options_.force};
    input_ = input.chosen_path(env);
    SessionOptions how;
    how.want_symbols = false;
    how.chains.reset();
    how.filter.pids = options_.pids;
    how.filter.tids = options_.tids;
    Session session = TRY(input.open_session(std::move(how), env));
    const ReplayCounts& counts = session.counts();
    times_ = TRY(parse_time_ranges(options_.time, counts.first_time_ns, counts.last_time_ns));
    if (options_.by_second) return of_seconds(session);
    if (!options_.field.empty()) return of_field(session);
    return of_pairs(session);
  }

  Result<view::HeatMap> of_pairs(const Session& session) {
    PairOptions pair{.from = options_.from, .to = options_.to, .key = options_.key};
    if (pair.from.empty()) pair = known_pair(session.events());
    if (pair.from.empty())
      return fail(ErrorCode::kFailed,
                  "{}: choose events with --from and --to, -e and --field, or --subsecond", input_);
    if (options_.nested) pair.nesting = EventPairing::Nesting::kCalls;
    TimedValues values = TRY(latencies_of(session, pair));
    Remarks remarks;
    remarks.add(values.still_open, "begun without an end");
    remarks.add(values.pairing.ends_alone, "ended without a begin");
    remarks.add(values.pairing.replaced, "begun again before their end");
    remarks.add(values.pairing.backward, "ended before their begin");
    remarks.add(values.unreadable, "samples without these fields");
    remarks_ = remarks.text();
    title(fmt::format("Latency from {} to {}", join(pair.from, ", "), join(pair.to, ", ")));
    options_.style.ns_per_value = 1;
    return of_values(values, "pairs");
  }

  Result<view::HeatMap> of_field(const Session& session) {
    TimedValues values = TRY(field_values_of(session, options_.event, options_.field));
    Remarks remarks;
    remarks.add(values.unreadable, "samples without this field");
    remarks_ = remarks.text();
    title(fmt::format("{} of {}", options_.field, options_.event));
    options_.style.unit = options_.unit_of_values;
    return of_values(values, "events");
  }

  Result<view::HeatMap> of_values(const TimedValues& values, std::string_view what) {
    std::vector<HeatPoint> points;
    points.reserve(values.values.size());
    uint64_t first_ns = 0;
    for (const TimedValue& value : values.values) {
      if (!is_in(times_, value.time_ns)) continue;
      if (points.empty()) first_ns = value.time_ns;
      points.push_back({static_cast<double>(value.time_ns - first_ns) / kSecondOfNs, value.value});
    }
    if (points.empty())
      return fail(ErrorCode::kFailed, "{}: there is nothing to draw: no {}{}{}", input_, what,
                  remarks_.empty() ? "" : "; ", remarks_);
    note(points.size(), what);
    options_.style.clock_start_ns = first_ns;
    options_.style.before_range = "--time ";
    return make_heat_map(points,
                         TRY(grid_options(options_, options_.style.ns_per_value.has_value())));
  }

  Result<view::HeatMap> of_seconds(const Session& session) {
    std::vector<uint64_t> times = TRY(times_of(session, options_.event));
    std::erase_if(times, [this](uint64_t time) { return !is_in(times_, time); });
    uint64_t first_second = 0;
    view::HeatMap map =
        TRY(make_second_map(times, options_.rows.value_or(kRowsOfASecond), first_second));
    title(fmt::format("When {} was: seconds, and offsets in them",
                      options_.event.empty() ? "any event" : options_.event));
    note(times.size(), "events");
    HeatMapStyle& style = options_.style;
    style.is_second_map = true;
    style.clock_start_ns = first_second * kSecondOfNs;
    style.before_range =
        fmt::format("sonde heatmap --subsecond -i {}{} --range ", quoted_word(input_),
                    options_.event.empty() ? "" : " -e " + quoted_word(options_.event));
    style.behind_range = " -o range.svg";
    if (!options_.x_label) style.x_label = "Seconds of the clock";
    return map;
  }

  /// The flame graph of a range chosen in a subsecond map.
  Result<int> draw_range(Env& env) {
    auto ranges = TRY(parse_time_ranges(options_.range, 0, 0));
    if (ranges.size() != 1 || ranges[0].to_ns <= ranges[0].from_ns)
      return fail(ErrorCode::kUsage, "--range takes a start and a stop in seconds, not '{}'",
                  options_.range);
    --ranges[0].to_ns;  // the box that begins there is the next one
    ProfileSourceOptions source;
    source.session.open = {.force = options_.force, .stdin_fd = env.in_fd};
    source.session.symbols = options_.symbols;
    source.session.filter = {
        .pids = options_.pids, .tids = options_.tids, .cpus = {}, .times = ranges};
    source.stacks.value = StackValue::kSamples;
    if (!options_.event.empty()) source.stacks.events = {options_.event};
    StackProfile profile =
        TRY(open_profile(options_.input.value_or(default_recording(env.in_fd)), source, env));
    if (profile.columns.empty() || total_of(profile.columns[0]) <= 0)
      return fail(ErrorCode::kFailed, "{}: no samples in the range {} s", profile.origin,
                  options_.range);
    FlameOptions flame;
    flame.title = options_.title.value_or("");
    flame.subtitle = fmt::format("{} from {} s", profile.columns[0].name, options_.range);
    FlameGraph graph = make_flame_graph(profile, 0, flame);
    OutputFile file = TRY(OutputFile::open(options_.output, env));
    write_flame_svg(file.sink(), graph, flame);
    TRY(file.finish());
    return 0;
  }

  // What surrounds the boxes.

  void title(std::string text) { options_.style.title = options_.title.value_or(std::move(text)); }
  void note(size_t count, std::string_view what) {
    options_.style.note = fmt::format("{} {}", grouped(static_cast<double>(count)), what);
    if (!remarks_.empty()) options_.style.note += "; " + remarks_;
  }
  void finish_style() {
    HeatMapStyle& style = options_.style;
    if (options_.x_label || style.x_label.empty())
      style.x_label = options_.x_label.value_or("Time");
    style.y_label = options_.y_label.value_or("");
  }

  HeatMapOptions options_;
  std::string input_;
  std::string remarks_;
  std::vector<TimeRange> times_;
};

}  // namespace

std::unique_ptr<Command> make_heatmap() {
  return std::make_unique<HeatMapCommand>();
}

}  // namespace sonde
