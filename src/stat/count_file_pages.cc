#include "stat/count_file_pages.h"

#include "analysis/counts/count_file.h"
#include "analysis/counts/count_series.h"
#include "base/text.h"

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
class CountFilePages {
 public:
  CountFilePages(const Recording& recording, const StatOptions& options,
                 std::optional<CountGrouping> grouping, Env& env, StatOutput& output)
      : recording_(recording),
        options_(options),
        grouping_(grouping),
        env_(env),
        output_(output),
        file_(recording, env.losses) {}

  Result<> write() {
    const Features& features = recording_.features();
    if (!features.has(abi::kFeatureStat) && !recording_.facts().is_pipe)
      return fail(ErrorCode::kUnsupported, "{} is not a recording of `stat record`",
                  recording_.facts().path);
    file_.read([this](const CountFile::Round& round) { add(round); });
    if (!series_) return fail(ErrorCode::kCorrupt, "{} holds no counts", recording_.facts().path);
    return {};
  }

 private:
  void add(const CountFile::Round& round) {
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
      env_.err.print(
          "the counts are those of tasks, not of CPUs: they are shown as they were recorded\n");
      grouping = grouping_of(file_.config().mode);
    }
    CpuLocations places(features.cpu_topology ? &*features.cpu_topology : nullptr, features.numa,
                        features.caches);
    std::vector<int> cpus = file_.cpus();
    for (const EventReadings& readings : file_.readings())
      cpus.insert(cpus.end(), readings.cpus.begin(), readings.cpus.end());
    CountUnits units(grouping, cpus, file_.threads(), places);
    CountUnits cores(CountGrouping::kCore, cpus, file_.threads(), places);
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

}  // namespace

Result<> write_count_file(const Recording& recording, const StatOptions& options,
                          std::optional<view::CountGrouping> grouping, Env& env,
                          StatOutput& output) {
  return CountFilePages(recording, options, grouping, env, output).write();
}

}  // namespace sonde
