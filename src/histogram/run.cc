#include "histogram/run.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/output_file.h"
#include "base/text.h"
#include "bpf/histograms/kernel_histograms.h"
#include "capture/control/measured_command.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/followed_target.h"
#include "histogram/histogram_svg.h"
#include "histogram/histogram_text.h"
#include "histogram/program_plan.h"
#include "histogram/recorded.h"
#include "store/build_id_cache.h"
#include "symbol/dso_symbols.h"
#include "tui/terminal/text_screen.h"

namespace sonde {
namespace {

constexpr double kNsInSecond = 1e9;
constexpr size_t kWidthOfPipe = 100;  // columns

size_t text_width(const Env& env, const Sink& out) {
  winsize size{};
  bool is_known = out.is_terminal() && env.out_fd >= 0 &&
                  ::ioctl(env.out_fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kWidthOfPipe;
}

EventSearch event_search(const HistogramOptions& options, Env& env) {
  EventSearch search{.functions = options.functions, .executable = options.executable};
  std::string path = env.variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  search.code = {.finder = finder_options({}, env), .path = path};
  search.usdt = {.buildid_dir = build_id_directory(env), .path = path};
  if (!options.command.empty()) search.usdt.program = options.command.front();
  for (std::string_view pid : split(options.pids, ','))
    if (!pid.empty()) search.usdt.pids.emplace_back(pid);
  if (options.verbose > 0)
    search.note = [&env](std::string_view text) { env.err.write_lines(fmt::format("{}\n", text)); };
  return search;
}

Result<std::vector<uint32_t>> chosen_cpus(const std::string& list) {
  std::vector<uint32_t> chosen;
  if (list.empty()) return chosen;
  std::vector<int> online = TRY(online_cpus());
  for (int cpu : TRY(select_cpus(list, online))) chosen.push_back(static_cast<uint32_t>(cpu));
  return chosen;
}

/// What the programs have added up, as a set.
class LiveHistograms {
 public:
  static Result<LiveHistograms> open(const HistogramOptions& options, ProgramPlan plan,
                                     FollowedTasks tasks) {
    KernelHistograms::Options wanted{.sources = std::move(plan.sources),
                                     .tasks = std::move(tasks),
                                     .cpus = TRY(chosen_cpus(options.cpus)),
                                     .bucket_size = plan.empty.scale.size,
                                     .first_bucket_at = plan.empty.scale.from,
                                     .last_bucket_end = plan.empty.scale.to,
                                     .most_cells = options.most_cells,
                                     .most_begins = options.most_cells};
    KernelHistograms sums = TRY(KernelHistograms::open(wanted));
    return LiveHistograms(std::move(sums), std::move(plan), options.most_cells);
  }

  void set_enabled(bool enabled) { sums_.set_enabled(enabled); }

  [[nodiscard]] HistogramSet set() const {
    HistogramSet set = plan_.empty;
    std::map<std::string, Histogram> by_key;
    for (const KernelHistograms::Cell& cell : sums_.cells()) {
      std::string key = set.key_name.empty() ? "" : key_value_text(cell.by.data(), plan_.key_style);
      if (cell.count > 0) by_key[key].add(cell.bucket, cell.count, cell.sum);
    }
    for (auto& [key, histogram] : by_key) {
      histogram.key = key;
      set.histograms.push_back(std::move(histogram));
    }
    set.sort();
    return set;
  }

  [[nodiscard]] std::vector<std::string> remarks() const {
    KernelHistograms::Counts counts = sums_.counts();
    std::vector<std::string> remarks;
    std::string room =
        fmt::format("there is room for {}; --map-nr-entries makes more", most_cells_);
    add_remark(counts.lost_values, "event is", "events are",
               fmt::format("not counted: too many keys and buckets ({})", room), remarks);
    add_remark(counts.lost_begins, "begin is", "begins are",
               fmt::format("not measured: too many without an end ({})", room), remarks);
    add_remark(counts.lost_tasks, "new thread was", "new threads were",
               "not followed: too many at one time", remarks);
    add_remark(counts.missed, "event was", "events were",
               "missed: another BPF program was running on that CPU", remarks);
    add_remarks({.replaced = counts.replaced,
                 .ends_alone = counts.ends_alone,
                 .backward = counts.backward,
                 .still_open = counts.still_open,
                 .unreadable = counts.unreadable},
                remarks);
    return remarks;
  }

 private:
  LiveHistograms(KernelHistograms sums, ProgramPlan plan, uint32_t most_cells)
      : sums_(std::move(sums)), plan_(std::move(plan)), most_cells_(most_cells) {}

  KernelHistograms sums_;
  ProgramPlan plan_;
  uint32_t most_cells_;
};

/// Writes the sets of a run, whatever they are written as.
class HistogramOutput {
 public:
  HistogramOutput(const HistogramOptions& options, Env& env, OutputFile& file)
      : options_(options), env_(env), file_(file) {
    bool is_live = options.interval_s > 0 && !options.json && file.sink().is_terminal();
    if (is_live) screen_.emplace(file.sink(), env.out_fd);
  }

  void interval(const HistogramSet& set) {
    if (options_.json) {
      write_histograms_json(file_.sink(), set);
    } else if (screen_) {
      StringSink text(file_.sink());
      write_histograms(text, set, options_.entries, text_width(env_, file_.sink()));
      screen_->show(text, "Ctrl-C shows the whole, and ends");
    } else {
      write(set);
      file_.sink().write("\n");
    }
    file_.sink().flush();
  }

  Result<> total(const HistogramSet& set) {
    if (screen_) screen_->leave();
    if (options_.json)
      write_histograms_json(file_.sink(), set);
    else
      write(set);
    TRY(file_.finish());
    if (!options_.svg.empty()) {
      OutputFile picture = TRY(OutputFile::open(options_.svg, env_));
      write_histograms_svg(picture.sink(), set, options_.entries);
      TRY(picture.finish());
    }
    file_.sink().flush();
    if (!options_.json)
      for (const std::string& remark : set.remarks) env_.err.print("{}\n", remark);
    return {};
  }

 private:
  void write(const HistogramSet& set) {
    write_histograms(file_.sink(), set, options_.entries, text_width(env_, file_.sink()));
  }

  const HistogramOptions& options_;
  Env& env_;
  OutputFile& file_;
  std::optional<tui::TextScreen> screen_;
};

double seconds_since(uint64_t start_ns) {
  return static_cast<double>(monotonic_ns() - start_ns) / kNsInSecond;
}

/// When intervals end, and the whole.
class HistogramClock {
 public:
  HistogramClock(double interval_s, double duration_s)
      : interval_s_(interval_s), duration_s_(duration_s), next_s_(interval_s) {}

  [[nodiscard]] double seconds() const { return seconds_since(start_ns_); }
  [[nodiscard]] bool is_over() const { return duration_s_ > 0 && seconds() >= duration_s_; }
  /// How long the interval was that has just ended; nothing if none has.
  std::optional<double> interval() {
    double now = seconds();
    if (interval_s_ <= 0 || now < next_s_) return std::nullopt;
    double length = now - last_s_;
    last_s_ = now;
    while (next_s_ <= now) next_s_ += interval_s_;
    return length;
  }
  /// Until one of them ends.
  [[nodiscard]] int wait_ms() const {
    constexpr double kMsPerSecond = 1000;
    double end = interval_s_ > 0 ? next_s_ : duration_s_;
    if (interval_s_ > 0 && duration_s_ > 0) end = std::min(end, duration_s_);
    if (end <= 0) return -1;
    double wait = std::clamp((end - seconds()) * kMsPerSecond, 0.0, 3.6e6);
    return static_cast<int>(std::ceil(wait));
  }

 private:
  uint64_t start_ns_ = monotonic_ns();
  double interval_s_, duration_s_, next_s_, last_s_ = 0;
};

Result<int> measure(const HistogramOptions& options, Env& env) {
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  ProgramPlan plan = TRY(plan_programs(options, event_search(options, env), tracefs));
  FollowedTasks tasks = TRY(followed_tasks(options.pids, options.tids));
  MeasuredCommand measured = TRY(MeasuredCommand::fork(options.command, env));
  measured.choose_tasks(options.all_cpus || !options.cpus.empty(), tasks);
  bool starts_by_itself = tasks.enable_on_exec;
  LiveHistograms live = TRY(LiveHistograms::open(options, std::move(plan), std::move(tasks)));
  OutputFile file = TRY(OutputFile::open(options.output, env));
  HistogramOutput output(options, env, file);
  if (!starts_by_itself) live.set_enabled(true);
  HistogramClock clock(options.interval_s, options.duration_s);
  HistogramSet before;
  auto turn = [&]() -> std::optional<int> {
    if (auto length = clock.interval()) {
      HistogramSet now = live.set();
      HistogramSet in_between = difference(now, before);
      in_between.seconds = *length;
      output.interval(in_between);
      before = std::move(now);
    }
    if (!clock.is_over()) return clock.wait_ms();
    live.set_enabled(false);
    return std::nullopt;
  };
  int status = TRY(measured.run_timed(turn));
  live.set_enabled(false);
  HistogramSet set = live.set();
  set.seconds = clock.seconds();
  set.remarks = live.remarks();
  TRY(output.total(set));
  return status;
}

}  // namespace

Result<int> run_histogram(const HistogramOptions& options, Env& env) {
  if (!options.input) return measure(options, env);
  HistogramSet set = TRY(histogram_of_recording(options, env));
  OutputFile file = TRY(OutputFile::open(options.output, env));
  TRY(HistogramOutput(options, env, file).total(set));
  return 0;
}

}  // namespace sonde
