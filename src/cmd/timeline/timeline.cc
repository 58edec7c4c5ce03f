// `timeline`: what each CPU and thread did and when, and what threads waited for.
#include <algorithm>

#include "analysis/timelines/call_stacks.h"
#include "analysis/timelines/call_timeline.h"
#include "analysis/timelines/off_cpu.h"
#include "analysis/timelines/session_timeline.h"
#include "analysis/timelines/timeline_part.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "export/formats/folded_writer.h"
#include "export/pictures/axis.h"
#include "export/pictures/timeline_json.h"
#include "export/pictures/timeline_svg.h"
#include "replay/fields/time_ranges.h"

namespace sonde {
namespace {

enum class TimelineFormat : uint8_t { kSvg, kJson, kFolded };

class TimelineCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<file>]");
    flags.description(
        R"(Draws what each CPU and each thread did, and when, from a recording of the scheduler:
running, waiting for a CPU, or waiting for something else, and who ended that wait. Make such a recording with
`record -e sched:sched_switch,sched:sched_waking -a -g -- command` or with `sched record`. With -g, the picture shows where a
thread waited, and where its waker was. With --itrace, from a recording of an instruction trace instead: when each thread entered and left each function.

What is not known because events are missing is left blank (hatched on CPUs); a recording without -a, of every n-th switch or with a filter is refused.

The picture is one SVG file that any browser shows: scroll to zoom, drag to move, double-click to show everything again.)");
    input_.declare_file(flags);
    flags.text('o', "output", output_, "file", "file to write (standard output)");
    flags
        .call(0, "to", "format",
              "svg: the picture (default); json: all of its data; folded: what threads waited "
              "for, as stacks: the thread's own, `--', and the waker's, reversed; with --itrace, "
              "its calls",
              [this](std::string_view word) { return set_format(word); })
        .offers({"svg", "json", "folded"});
    flags.boolean(0, "itrace", of_calls_,
                  "the calls of each thread, from an instruction trace (record -e intel_pt//u, -e "
                  "sonde_step//)");
    flags.text(
        0, "time", time_, "str",
        "only this span: start,stop in seconds, or a share of the recording such as 10%-20%");
    flags.call('C', "cpu", "cpu", "only these CPUs", numbers_into(cpus_));
    flags.call('p', "pid", "pid[,pid...]", "only threads of these processes", numbers_into(pids_));
    flags.call('t', "tid", "tid[,tid...]", "only these threads", numbers_into(tids_));
    flags.call('c', "comms", "comm[,comm...]", "only threads with these names", words_into(comms_));
    flags.text(0, "title", style_.title, "text", "title of the picture");
    flags.number(0, "width", style_.width, "px", "width of the picture (1200)");
    flags.number(0, "max-threads", style_.max_threads, "n",
                 "draw at most this many threads, those that ran longest (200)");
    flags.number(0, "max-slices", style_.max_slices, "n",
                 "keep at most this many slices for zooming; if there are more, short "
                 "neighbours are joined (100000)");
    declare_symbol_sources(flags, session_.symbols);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (!arguments.empty()) input_.path = arguments[0];
    if (!(style_.width >= TimelineStyle::kMinWidth && style_.width <= TimelineStyle::kMaxWidth))
      return fail(ErrorCode::kUsage, "--width goes from {} to {}", TimelineStyle::kMinWidth,
                  TimelineStyle::kMaxWidth);
    name_frame_functions(session_.symbols, env);
    return of_calls_ ? show_calls(env) : show_states(env);
  }

 private:
  Result<int> show_states(Env& env) {
    Session session = TRY(input_.open_session(session_, env));
    SessionTimeline made = TRY(timeline_of(session, {}));
    const std::vector<std::string> flaws = made.flaws();  // of the whole, whatever part is shown
    TRY(choose_part(session, made.timeline));
    TRY(write(env, made.timeline));
    for (const std::string& flaw : flaws) env.err.print("{}\n", flaw);
    return 0;
  }
  Result<int> show_calls(Env& env) {
    session_.itrace = call_timeline_trace();
    session_.chains.reset();
    session_.filter.cpus = cpus_;
    Session session = TRY(input_.open_session(session_, env));
    CallTimeline made = TRY(call_timeline_of(session));
    TRY(choose_part(session, made.timeline));
    TRY(write(env, made.timeline));
    if (made.errors > 0)
      env.err.print(
          "the trace could not be followed at {} places, where calls are cut off (script "
          "--itrace=e "
          "lists them)\n",
          made.errors);
    return 0;
  }

  Result<> set_format(std::string_view word) {
    if (word == "svg")
      format_ = TimelineFormat::kSvg;
    else if (word == "json")
      format_ = TimelineFormat::kJson;
    else if (word == "folded")
      format_ = TimelineFormat::kFolded;
    else
      return fail(ErrorCode::kUsage, "expects svg, json or folded, not '{}'", word);
    return {};
  }

  template <typename List, typename Value>
  static bool allows(const List& list, const Value& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
  }
  Result<> choose_part(const Session& session, view::Timeline& timeline) const {
    const ReplayCounts& counts = session.counts();
    auto ranges = TRY(parse_time_ranges(time_, counts.first_time_ns, counts.last_time_ns));
    if (ranges.size() > 1)
      return fail(ErrorCode::kUsage, "--time: expects one span, not {}", ranges.size());
    if (!ranges.empty()) crop(timeline, ranges[0].from_ns, ranges[0].to_ns);
    if (!cpus_.empty()) keep_cpus(timeline, cpus_);
    show_threads(timeline, [this](const view::TimelineThread& thread) {
      return allows(pids_, thread.pid) && allows(tids_, thread.tid) &&
             (allows(comms_, thread.name) ||
              std::ranges::any_of(thread.names, [this](const view::TimelineName& name) {
                return allows(comms_, name.name);
              }));
    });
    return {};
  }

  Result<> write(Env& env, const view::Timeline& timeline) const {
    OutputFile file = TRY(OutputFile::open(output_, env));
    TRY(write(file.sink(), env.err, timeline));
    return file.finish();
  }
  Result<> write(Sink& out, Sink& err, const view::Timeline& timeline) const {
    switch (format_) {
      case TimelineFormat::kJson:
        write_timeline_json(out, timeline);
        return {};
      case TimelineFormat::kFolded:
        write_folded(out, of_calls_ ? call_stacks(timeline, false) : off_cpu_stacks(timeline), 0);
        return {};
      case TimelineFormat::kSvg:
        break;
    }
    TimelineLimits limits = write_timeline_svg(out, timeline, style_);
    if (limits.threads_left_out > 0)
      err.print("{} of {} threads are not drawn: they ran least (--max-threads)\n",
                limits.threads_left_out, limits.threads_left_out + limits.threads_drawn);
    if (limits.joined_below_ns > 0)
      err.print("zoomed in, {} shorter than {} are {} (--max-slices, --time)\n",
                of_calls_ ? "calls" : "slices",
                time_text(static_cast<double>(limits.joined_below_ns)),
                of_calls_ ? "left out" : "joined");
    return {};
  }

  RecordingInput input_;
  std::string output_;
  std::string time_;
  bool of_calls_ = false;
  TimelineFormat format_ = TimelineFormat::kSvg;
  std::vector<uint32_t> cpus_, pids_, tids_;
  std::vector<std::string> comms_;
  SessionOptions session_;
  TimelineStyle style_;
};

}  // namespace

std::unique_ptr<Command> make_timeline() {
  return std::make_unique<TimelineCommand>();
}

}  // namespace sonde
