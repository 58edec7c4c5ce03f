// timechart: a picture of what CPUs and threads did, or of what threads read and wrote.
#include <algorithm>
#include <optional>

#include "analysis/timelines/chart_filter.h"
#include "analysis/timelines/io_calls.h"
#include "analysis/timelines/power_states.h"
#include "analysis/timelines/session_timeline.h"
#include "base/option_values.h"
#include "base/output_file.h"
#include "cli/command_family.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/scan_or_session.h"
#include "cmd/timechart/timechart.h"
#include "export/pictures/timeline_svg.h"

namespace sonde {
namespace {

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
    flags.text('o', "output", output_, "file", "file to write (output.svg)");
    flags.number('w', "width", style_.width, "n", "width of the picture in pixels (1200)");
    flags.call(0, "highlight", "duration or task name",
               "highlight threads of this name, or runs longer than this many nanoseconds",
               [this](std::string_view text) -> Result<> {
                 highlight_ = parse_highlight(text);
                 return {};
               });
    flags.boolean('P', "power-only", parts_.power_only, "draw CPUs only");
    flags.boolean('T', "tasks-only", parts_.tasks_only, "draw threads only");
    flags.call('p', "process", "process",
               "draw this process only, by name or pid; may be given several times",
               [this](std::string_view text) -> Result<> {
                 processes_.emplace_back(text);
                 return {};
               });
    flags.number('n', "proc-num", at_least_, "n",
                 "draw at least this many threads, those that did most (15)");
    flags.boolean('t', "topology", by_topology_,
                  "sort CPUs by sockets and cores, instead of by number");
    flags.boolean(0, "io-skip-eagain", io_.skip_eagain, "leave out calls that failed with EAGAIN");
    flags.call(0, "io-min-time", "time",
               "draw shorter calls this long: nanoseconds, or with unit s, ms, us (1ms)",
               [this](std::string_view text) { return set_time(io_.shortest_ns, text); });
    flags.call(0, "io-merge-dist", "time",
               "merge calls of one kind that are closer together: nanoseconds, or with unit s, ms, "
               "us (1us)",
               [this](std::string_view text) { return set_time(io_.merge_within_ns, text); });
    flags.text(0, "symfs", session_.symbols.symfs, "directory",
               "look for objects and their debug files below this directory");
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
      return fail(ErrorCode::kUsage,
                  "Error: -P draws no threads, and -T nothing else: give one of them");
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
    field = TRY(parse_time_ns(text, 1));
    return {};
  }

  Result<view::Timeline> make(Env& env) {
    ScanOrSession recording(input_, session_, env);
    TRY(recording.open());
    FileScan& scan = recording.scan();
    if (has_io_calls(scan.events())) {
      view::Timeline timeline = io_timeline(scan, io_, recording.losses());
      choose_chart_threads(timeline, processes_, at_least_);
      return timeline;
    }
    if (has_switches(scan)) return make_of_switches(*TRY(recording.session()), env);
    if (!has_power_states(scan.events()))
      return fail(ErrorCode::kFailed,
                  "{}: this recording has no scheduler, CPU power or I/O events: make one "
                  "with `{} timechart record`",
                  input_.chosen_path(env), env.tool);
    view::Timeline timeline;
    add_power_states(timeline, scan, recording.losses());
    if (by_topology_) sort_by_topology(timeline, scan.features(), env);
    return timeline;
  }

  static bool has_switches(const FileScan& scan) {
    return std::ranges::find(scan.events().all(), "sched:sched_switch", &EventDesc::name) !=
           scan.events().all().end();
  }

  Result<view::Timeline> make_of_switches(const Session& session, Env& env) {
    SessionTimeline made = TRY(timeline_of(session, {}));
    for (const std::string& flaw : made.flaws()) env.err.print("{}\n", flaw);
    view::Timeline timeline = std::move(made.timeline);
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
