#include "cmd/cmd_stat_report.h"

#include "analysis/count_file.h"
#include "analysis/count_series.h"
#include "base/text.h"
#include "cmd/cmd_stat_output.h"
#include "perfdata/recording.h"

namespace sonde {
namespace {

using view::CountGrouping;

CountGrouping grouping_of(CountFileMode mode) {
  switch (mode) {
    case CountFileMode::kNone:
      return CountGrouping::kCpu;
    case CountFileMode::kSocket:
      return CountGrouping::kSocket;
    case CountFileMode::kDie:
      return CountGrouping::kDie;
    case CountFileMode::kCore:
      return CountGrouping::kCore;
    case CountFileMode::kNode:
      return CountGrouping::kNode;
    case CountFileMode::kThread:
      return CountGrouping::kThread;
    default:
      return CountGrouping::kAll;
  }
}

/// Turns a file's rounds into pages.
class FileShower {
 public:
  FileShower(const Recording& recording, const StatOptions& options,
             std::optional<CountGrouping> grouping, Env& env, StatOutput& output)
      : recording_(recording),
        options_(options),
        grouping_(grouping),
        env_(env),
        output_(output),
        file_(recording, env.losses) {}

  Result<int> run() {
    const Features& features = recording_.features();
    if (!features.has(abi::kFeatureStat) && !recording_.facts().is_pipe)
      return fail(ErrorCode::kUnsupported, "{} is no recording of `stat record`",
                  recording_.facts().path);
    file_.read([this](const CountFile::Round& round) { take(round); });
    if (!series_) return fail(ErrorCode::kCorrupt, "{} holds no counts", recording_.facts().path);
    return 0;
  }

 private:
  void take(const CountFile::Round& round) {
    if (!series_) prepare();
    bool interval = file_.config().interval_ms > 0 && !round.is_final;
    series_->clear();
    if (!interval) {
      series_->add(file_.readings(), round.time_ns);
      return write_whole(round.time_ns);
    }
    series_->add(deltas_.take(file_.readings(), file_.events()),
                 file_.config().interval_ms * 1'000'000);
    view::CountPage page = series_->page();
    page.time_ns = round.time_ns;
    writer_->page(page);
  }

  void prepare() {
    const Features& features = recording_.features();
    CountGrouping grouping = grouping_.value_or(grouping_of(file_.config().mode));
    bool needs_cpus = grouping != CountGrouping::kAll && grouping != CountGrouping::kThread;
    bool of_tasks = file_.cpus().size() == 1 && file_.cpus()[0] < 0;
    if (needs_cpus && of_tasks) {
      env_.err.print("warning: processing task data, aggregation mode not set\n");
      grouping = grouping_of(file_.config().mode);
    }
    CpuPlaces places(features.cpu_topology ? &*features.cpu_topology : nullptr, features.numa,
                     features.caches);
    CountUnits units(grouping, file_.cpus(), file_.threads(), places);
    CountUnits cores(CountGrouping::kCore, file_.cpus(), file_.threads(), places);
    series_.emplace(file_.events(), units, cores, places,
                    CountSettings{.scale = file_.config().scale, .metrics = {options_.metrics}});
    writer_ = make_stat_writer(options_, grouping, file_.config().interval_ms > 0, output_.sink());
  }

  void write_whole(uint64_t elapsed_ns) {
    const Features& features = recording_.features();
    view::CountSummary summary;
    summary.command = features.command_line;
    summary.title =
        recording_.facts().is_pipe ? "'pipe'" : "'" + join(features.command_line, " ") + "'";
    summary.mean_s = static_cast<double>(elapsed_ns) * 1e-9;
    summary.elapsed_s = {summary.mean_s};
    view::CountPage page = series_->page();
    page.is_summary = file_.config().interval_ms > 0;
    writer_->begin(summary);
    writer_->page(page);
    writer_->end(summary);
  }

  const Recording& recording_;
  const StatOptions& options_;
  std::optional<CountGrouping> grouping_;
  Env& env_;
  StatOutput& output_;
  CountFile file_;
  CountDeltas deltas_;
  std::optional<CountSeries> series_;
  std::unique_ptr<render::CountWriter> writer_;
};

class StatReport final : public Command {
 public:
  explicit StatReport(const StatOptions& before) : options_(before) {
    if (before.grouping != CountGrouping::kAll) grouping_ = before.grouping;
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description("Shows the counts of a file that `stat record` wrote.");
    flags.text('i', "input", input_, "file", "input file name");
    flags.boolean('f', "force", force_, "don't complain, do it");
    declare_unit_flags(flags, grouping_);
    flags.text('x', "field-separator", options_.separator, "separator",
               "print counts with custom separator");
    flags.choose('j', "json-output", options_.json, 1, "print counts in JSON format");
    flags.boolean(0, "metric-only", options_.metric_only,
                  "Only print computed metrics. No raw values");
    flags.text('o', "output", options_.output, "file", "output file name");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "stat report takes no argument: '{}'", arguments[0]);
    if (options_.separator == "\\t") options_.separator = "\t";
    Recording recording = TRY(
        Recording::open(input_, OpenOptions{.force = force_, .stdin_fd = env.in_fd}, env.losses));
    StatOutput output = TRY(StatOutput::open(options_, env, false));
    return FileShower(recording, options_, grouping_, env, output).run();
  }

 private:
  StatOptions options_;
  std::optional<CountGrouping> grouping_;
  std::string input_ = "perf.data";
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> make_stat_report(const StatOptions& before) {
  return std::make_unique<StatReport>(before);
}

}  // namespace sonde
