// timechart: a picture of what CPUs and threads did, or of what threads read and wrote.
#include <algorithm>
#include <optional>

#include "analysis/timelines/chart_filter.h"
#include "analysis/timelines/io_calls.h"
#include "analysis/timelines/power_states.h"
#include "analysis/timelines/session_timeline.h"
#include "base/output_file.h"
#include "cli/command_family.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "cmd/timechart/timechart.h"
#include "export/pictures/timeline_svg.h"

namespace sonde {
namespace {

/// Parses "500", "20us" or "3ms" into nanoseconds.
Result<uint64_t> parse_nanoseconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    uint64_t ns;
  };
  constexpr Unit kUnits[] = {{"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}, {"s", 1'000'000'000}};
  uint64_t unit_ns = 1;
  std::string_view digits = text;
  for (const Unit& unit : kUnits)
    if (digits.ends_with(unit.name)) {
      unit_ns = unit.ns;
      digits.remove_suffix(unit.name.size());
      break;
    }
  constexpr size_t kMaxDigits = 10;
  bool is_number = !digits.empty() && digits.size() <= kMaxDigits &&
                   digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) return fail(ErrorCode::kUsage, "expects a time such as 500, 20us or 3ms");
  return std::stoull(std::string(digits)) * unit_ns;
}

class Timechart final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record}");
    flags.subcommands({"record"});
    flags.stop_at_first_word();
    flags.description(
        R"(Draws a recording of `timechart record` as one SVG file: what each CPU and each thread did, how deeply CPUs slept and how fast they ran; or, from `timechart record -I`, what threads read, wrote and waited for. Any browser shows it: scroll to zoom, drag to move, hover for details. It is the same picture as timeline's, with perf's options; timeline has more options.

Without -p it shows the threads that ran longest: those that ran 10 ms, and if these are too few (-n), those that ran 1 ms, and so on.)");
    flags.section("EXAMPLES", R"(  sonde timechart record -- make -j8
  sonde timechart -o make.svg --highlight cc1plus
  sonde timechart record -I -- git status
  sonde timechart --io-skip-eagain)");
    flags.text('o', "output", output_, "file", "output file name");
    flags.number('w', "width", style_.width, "n", "page width");
    flags.call(0, "highlight", "duration or task name",
               "highlight tasks. Pass duration in ns or process name.",
               [this](std::string_view text) -> Result<> {
                 highlight_ = parse_highlight(text);
                 return {};
               });
    flags.boolean('P', "power-only", parts_.power_only, "output power data only");
    flags.boolean('T', "tasks-only", parts_.tasks_only, "output processes data only");
    flags.call('p', "process", "process", "process selector. Pass a pid or process name.",
               [this](std::string_view text) -> Result<> {
                 processes_.emplace_back(text);
                 return {};
               });
    flags.number('n', "proc-num", at_least_, "n", "min. number of tasks to print");
    flags.boolean('t', "topology", by_topology_, "sort CPUs according to topology");
    flags.boolean(0, "io-skip-eagain", io_.skip_eagain, "skip EAGAIN errors");
    flags.call(0, "io-min-time", "time", "all IO faster than min-time will visually appear longer",
               [this](std::string_view text) { return set_time(io_.shortest_ns, text); });
    flags.call(0, "io-merge-dist", "time", "merge events that are merge-dist us apart",
               [this](std::string_view text) { return set_time(io_.merge_within_ns, text); });
    flags.text(0, "symfs", session_.symbols.symfs, "directory",
               "Look for files with symbols relative to this directory");
    declare_unverified_symbols(flags, session_.symbols);
    input_.declare(flags);
  }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    FamilyMember record{"record", [this] { return make_timechart_record(parts_); }};
    return find_member({&record, 1}, arguments);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "Error: timechart has no subcommand '{}'", arguments[0]);
    if (parts_.power_only && parts_.tasks_only)
      return fail(ErrorCode::kUsage, "Error: -P and -T can't be used at the same time.");
    if (!(style_.width >= TimelineStyle::kMinWidth && style_.width <= TimelineStyle::kMaxWidth))
      return fail(ErrorCode::kUsage, "--width goes from {} to {}", TimelineStyle::kMinWidth,
                  TimelineStyle::kMaxWidth);
    view::Timeline timeline = TRY(make(env));
    style_.title =
        timeline.subject == view::TimelineSubject::kIo ? "Time chart of I/O" : "Time chart";
    style_.max_threads = timeline.threads.size();  // those selected
    OutputFile file = TRY(OutputFile::open(output_, env));
    TimelineLimits limits = write_timeline_svg(file.sink(), timeline, style_);
    TRY(file.finish());
    env.err.print("Written {:.1f} seconds of trace to {}.\n",
                  static_cast<double>(timeline.end_ns - timeline.start_ns) / 1e9, output_);
    if (limits.joined_below_ns > 0)
      env.err.print("zoomed in, slices shorter than {} us are joined\n",
                    limits.joined_below_ns / 1000);
    return 0;
  }

 private:
  static Result<> set_time(uint64_t& field, std::string_view text) {
    field = TRY(parse_nanoseconds(text));
    return {};
  }

  Result<view::Timeline> make(Env& env) {
    std::string path = input_.chosen_path(env);
    FileScan scan = TRY(input_.open_scan(env));
    if (has_io_calls(scan.events())) {
      view::Timeline timeline = io_timeline(scan, io_, env.losses);
      choose_chart_threads(timeline, processes_, at_least_);
      return timeline;
    }
    if (has_switches(scan)) return make_of_switches(env, path);
    if (!has_power_states(scan.events()))
      return fail(ErrorCode::kFailed,
                  "{}: this recording has no scheduler, CPU power or I/O events: make one "
                  "with `{} timechart record`",
                  path, env.tool);
    view::Timeline timeline;
    add_power_states(timeline, scan, env.losses);
    if (by_topology_) sort_by_topology(timeline, scan.features(), env);
    return timeline;
  }

  static bool has_switches(const FileScan& scan) {
    return std::ranges::find(scan.events().all(), "sched:sched_switch", &EventDesc::name) !=
           scan.events().all().end();
  }

  Result<view::Timeline> make_of_switches(Env& env, const std::string& path) {
    session_.open = input_.open_options(env);
    Session session = TRY(Session::open(path, session_, env));
    view::Timeline timeline = std::move(TRY(timeline_of(session, {})).timeline);
    if (!parts_.tasks_only) {
      LossLedger counted_already;
      FileScan again(session.recording(), counted_already);
      add_power_states(timeline, again, counted_already);
    }
    if (highlight_) mark(timeline, *highlight_);
    choose_chart_threads(timeline, processes_, at_least_);
    if (parts_.power_only)
      for (view::TimelineThread& thread : timeline.threads) thread.is_shown = false;
    if (parts_.tasks_only) timeline.cpus.clear();
    if (by_topology_) sort_by_topology(timeline, session.recording().features(), env);
    return timeline;
  }

  static void sort_by_topology(view::Timeline& timeline, const Features& features, Env& env) {
    if (!sort_cpus_by_topology(timeline, features))
      env.err.write(
          "the recording does not say which CPUs share a core: they are sorted by number\n");
  }

  RecordingInput input_;
  std::string output_ = "output.svg";
  TimelineStyle style_;
  SessionOptions session_;
  ChartParts parts_;
  IoOptions io_;
  std::optional<ChartHighlight> highlight_;
  std::vector<std::string> processes_;
  size_t at_least_ = 15;
  bool by_topology_ = false;
};

}  // namespace

std::unique_ptr<Command> make_timechart() {
  return std::make_unique<Timechart>();
}

}  // namespace sonde
