#include "stat/compare.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "analysis/comparison/compare_measured.h"
#include "analysis/counts/count_series.h"
#include "base/file.h"
#include "base/output/overwriting.h"
#include "base/shell_words.h"
#include "base/text.h"
#include "base/version.h"
#include "capture/counters/machine_pace.h"
#include "capture/synthesis/session_features.h"
#include "render/comparison.h"
#include "stat/output.h"
#include "stat/runs.h"

namespace sonde {
namespace {

constexpr size_t kMaxBaselineSize = size_t{16} << 20;

std::string in_quotes(const std::vector<std::string>& command) {
  return "'" + join(command, " ") + "'";
}

class StatComparison {
 public:
  StatComparison(const StatOptions& options, Env& env, SignalQueue& signals, StatOutput& output)
      : options_(options), env_(env), output_(output), runs_(options, env, signals) {}

  Result<int> run() {
    TRY(prepare());
    TRY(measure());
    if (stopped_with_) return *stopped_with_;
    runs_.counters().close();
    if (!options_.save.empty()) TRY(save());
    view::Comparison comparison = TRY(compare_measured(
        a_.runs, b_.runs, baseline_ ? RunPlan::kSeparate : RunPlan::kPaired, options_.gates));
    comparison.a.title = a_.title;
    comparison.b.title = b_.title;
    comparison.notes.insert(comparison.notes.begin(), notes_.begin(), notes_.end());
    TRY(write(comparison));
    return status_of(comparison.gates);
  }

 private:
  struct Side {
    char letter;
    CountOptions count;
    std::string title;
    MeasuredRuns runs;
  };

  Result<> prepare() {
    b_.count = options_.count;
    b_.runs.command = options_.count.target.command;
    b_.title = in_quotes(b_.runs.command);
    wanted_runs_ = static_cast<size_t>(options_.runs);
    if (!options_.vs.empty()) return set_command(TRY(shell_words(options_.vs, "--vs")));
    std::string path = options_.compare;
    Result<std::string> text = read_file(path, kMaxBaselineSize);
    if (text && looks_like_baseline(*text)) return set_baseline(*text);
    if (text && ::access(path.c_str(), X_OK) != 0)
      return fail(ErrorCode::kFailed, "--compare {}: neither a file of `stat --save` nor a program",
                  path);
    is_guess_ = true;
    return set_command(TRY(shell_words(path, "--compare")));
  }

  Result<> set_command(std::vector<std::string> command) {
    a_.count = options_.count;
    a_.count.target.command = command;
    a_.title = in_quotes(command);
    a_.runs.command = std::move(command);
    return {};
  }

  Result<> set_baseline(std::string_view text) {
    baseline_ = TRY(parse_baseline(text, options_.compare));
    Baseline now = describe_this_machine(options_);
    notes_ = TRY(compare_origins(*baseline_, now, options_.compare));
    a_.runs = std::move(baseline_->runs);
    a_.title = fmt::format("{}: {}", options_.compare, in_quotes(a_.runs.command));
    if (!options_.runs_given && a_.runs.runs > 1) wanted_runs_ = a_.runs.runs;
    return {};
  }

  static Result<int> status_of(const std::vector<view::ComparedGate>& gates) {
    using Outcome = view::ComparedGate::Outcome;
    auto has = [&](Outcome outcome) {
      return std::ranges::find(gates, outcome, &view::ComparedGate::outcome) != gates.end();
    };
    if (has(Outcome::kExceeded)) return kGateStatus;
    // A gate that could not have failed must not look like one that passed.
    if (has(Outcome::kTooFewRuns))
      return fail(ErrorCode::kFailed, "--gate: not enough runs to tell; more are needed (-r)");
    return 0;
  }

  /// Checks before all the runs whether they will yield what the gates ask for.
  Result<> check_gates(const CountOutcome& outcome) {
    std::vector<EventReadings> readings = runs_.read(outcome);
    for (const Gate& gate : options_.gates) {
      bool is_known = gate.metric == "elapsed" || gate.metric == "user" || gate.metric == "sys";
      for (size_t i = 0; i < readings.size(); ++i) {
        if (runs_.events()[i].name != gate.metric) continue;
        is_known = true;
        if (!readings[i].supported)
          return fail(ErrorCode::kUnsupported, "--gate '{}': {} is not supported here", gate.text,
                      gate.metric);
      }
      if (!is_known)
        return fail(ErrorCode::kUsage, "--gate '{}': '{}' is not measured: add it to -e", gate.text,
                    gate.metric);
    }
    return {};
  }

  Result<> measure() {
    // The order within each pair is random, so that no periodic disturbance stays in step with one
    // side. The sequence is the same every time.
    std::mt19937_64 coin(20);
    TRY(warm_up());
    for (size_t i = 0; i < wanted_runs_ && !stopped_with_; ++i) {
      if (options_.count.verbose > 0)
        env_.err.print("[ {} stat: executing run #{} of each ... ]\n", env_.tool, i + 1);
      if (baseline_) {
        TRY(run_once(b_, true));
        continue;
      }
      bool b_first = (coin() >> 63) != 0;
      TRY(run_once(b_first ? b_ : a_, true));
      if (!stopped_with_) TRY(run_once(b_first ? a_ : b_, true));
    }
    return {};
  }

  Result<> warm_up() {
    if (!baseline_) {
      Result<> warmed = run_once(a_, false);
      if (!warmed && is_guess_)
        return fail(warmed.error().code, "--compare {}: no file of `stat --save`; as a command: {}",
                    options_.compare, warmed.error());
      TRY(std::move(warmed));
    }
    return stopped_with_ ? Result<>{} : run_once(b_, false);
  }

  Result<> run_once(Side& side, bool counts) {
    bool needs_pace = counts && (baseline_ || (&side == &b_ && !options_.save.empty()));
    if (needs_pace)
      side.runs.pace_ns.push_back(static_cast<double>(TRY(measure_machine_pace_ns())));
    CountOutcome outcome = TRY(runs_.once(side.count, {}));
    if (outcome.interrupted_by != 0) {
      stopped_with_ = 128 + outcome.interrupted_by;
      return {};
    }
    if (int status = shell_status(outcome.wait_status.value_or(0)); status != 0)
      return stop(side, *outcome.wait_status);
    if (counts)
      add(side, outcome);
    else
      TRY(check_gates(outcome));
    return runs_.after();
  }

  void add(Side& side, const CountOutcome& outcome) {
    if (!series_) {
      CountUnits whole(view::CountGrouping::kAll, runs_.counters().target().cpus, {}, {});
      series_.emplace(runs_.events(), whole, whole, CpuLocations(),
                      CountSettings{.scale = options_.scale,
                                    .merge_aliases = !options_.no_merge,
                                    .merge_core_kinds = options_.hybrid_merge});
    }
    series_->clear();
    series_->add(runs_.read(outcome), outcome.elapsed_ns);
    side.runs.add(series_->page(), runs_.events(),
                  {outcome.elapsed_ns, outcome.user_ns, outcome.system_ns});
  }

  /// A command that failed did not do what it should be compared for.
  Result<> stop(const Side& side, int wait_status) {
    std::string how = WIFSIGNALED(wait_status)
                          ? fmt::format("was killed: {}", ::strsignal(WTERMSIG(wait_status)))
                          : fmt::format("ended with status {}", WEXITSTATUS(wait_status));
    env_.err.print("{} ({}) {} in run {}: nothing is compared\n", side.letter,
                   in_quotes(side.count.target.command), how, side.runs.runs + 1);
    stopped_with_ = shell_status(wait_status);
    return {};
  }

  Result<> save() {
    Baseline kept = describe_this_machine(options_);
    kept.runs = b_.runs;
    return save_baseline(kept, options_.save);
  }

  Result<> write(const view::Comparison& comparison) {
    using Format = render::ComparisonFormat;
    render::ComparisonStyle style;
    style.format = options_.markdown    ? Format::kMarkdown
                   : options_.json != 0 ? Format::kJson
                                        : Format::kText;
    style.color = output_.sink().is_terminal();
    render::write_comparison(output_.sink(), comparison, style);
    output_.sink().flush();
    if (int error = output_.sink().failed(); error != 0)
      return fail(ErrorCode::kIo, "cannot write the comparison: {}", std::strerror(error));
    return {};
  }

  const StatOptions& options_;
  Env& env_;
  StatOutput& output_;
  Side a_{.letter = 'A', .count = {}, .title = {}, .runs = {}};
  Side b_{.letter = 'B', .count = {}, .title = {}, .runs = {}};
  std::optional<Baseline> baseline_;
  bool is_guess_ = false;  // --compare's word was taken as a command
  size_t wanted_runs_ = 0;
  std::vector<std::string> notes_;
  StatRuns runs_;
  std::optional<CountSeries> series_;
  std::optional<int> stopped_with_;
};

}  // namespace

Baseline describe_this_machine(const StatOptions& options) {
  Features features;
  collect_machine_features(features);
  Baseline baseline;
  baseline.tool = sonde_version();
  baseline.host = features.hostname.value_or("");
  baseline.machine = features.arch.value_or("");
  baseline.processor = features.cpu_desc.value_or("");
  baseline.kernel = features.os_release.value_or("");
  baseline.cpus = features.cpus_online.value_or(0);
  baseline.inherit = !options.count.no_inherit;
  baseline.runs.command = options.count.target.command;
  return baseline;
}

Result<> save_baseline(const Baseline& baseline, const std::string& path) {
  auto file = overwrite(path, 0666);
  if (!file) return fail(ErrorCode::kFailed, "failed to create {}: {}", path, file.error());
  return write_all(file->get(), path, as_bytes(baseline_text(baseline)));
}

Result<int> run_stat_comparison(const StatOptions& options, Env& env) {
  StatOutput output = TRY(StatOutput::open(options, env, false));
  SignalQueue signals = TRY(SignalQueue::create());
  return StatComparison(options, env, signals, output).run();
}

}  // namespace sonde
