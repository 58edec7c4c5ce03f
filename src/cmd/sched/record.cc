// sched record: records the scheduler's events on the whole machine. sched script: prints them.
#include <unistd.h>

#include "capture/synthesis/records_file.h"
#include "capture/synthesis/session_features.h"
#include "cli/command_preset.h"
#include "cmd/sched/sched.h"
#include "event/print_fmt/tracefs.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/write/recording_place.h"
#include "sched/measured_schedule.h"
#include "sched/sum_records.h"

namespace sonde {

std::unique_ptr<Command> make_record();
std::unique_ptr<Command> make_script();

namespace {

constexpr std::string_view kSchedRecordText =
    R"(Records the scheduler's events on the whole machine while the command runs: context switches, run times, wakeups, forks and migrations. All of record's options may follow; -g also records where tasks left their CPU. The other subcommands of sched, and timeline, read the recording.

With --summary the kernel adds up what each thread does, and only the sums are written when the command ends: a few hundred bytes per thread, for `sched latency`. The whole machine is measured; of the other options, only -o and -q apply.)";
constexpr std::string_view kSchedScriptText =
    R"(Prints the recorded events one per line, like script, whose options it takes.)";

std::vector<std::string> record_words() {
  Tracefs tracefs;
  std::vector<std::string> words = {"-a", "-R", "-m", "1024", "-c", "1"};
  auto add = [&](std::string_view event) {
    words.emplace_back("-e");
    words.push_back("sched:" + std::string(event));
  };
  add("sched_switch");
  // Only kernels with CONFIG_SCHEDSTATS report how long tasks waited.
  for (std::string_view event : {"sched_stat_wait", "sched_stat_sleep", "sched_stat_iowait"})
    if (tracefs.has("sched", event)) add(event);
  for (std::string_view event :
       {"sched_stat_runtime", "sched_process_fork", "sched_wakeup_new", "sched_migrate_task"})
    add(event);
  add(tracefs.has("sched", "sched_waking") ? "sched_waking" : "sched_wakeup");
  return words;
}

class SchedRecord final : public Command {
 public:
  Result<> configure(const Config& config) override { return events_->configure(config); }

  void declare(FlagTable& flags) override {
    events_->declare(flags);
    flags.watch([this](const std::string& word, const Flag::Use& use) {
      if (word == "--output")
        path_ = use.value.value_or(kDefaultPath);
      else if (word == "--quiet")
        quiet_ = !use.negated;
      else if (word != "--all-cpus" && word != "--verbose")
        about_events_ = word;
    });
    flags.boolean(0, "summary", summary_,
                  "record per-thread sums made by the kernel, instead of events");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!summary_) return events_->run(env, arguments);
    if (!about_events_.empty())
      return fail(ErrorCode::kUsage,
                  "Error: {} does not go with --summary, which records no events and measures the "
                  "whole machine",
                  about_events_);
    if (path_ == "-")
      return fail(ErrorCode::kUsage, "Error: --summary needs a file: -o - is not one");
    return record_sums(env, arguments.words);
  }

 private:
  static constexpr std::string_view kDefaultPath = "perf.data";

  Result<int> record_sums(Env& env, const std::vector<std::string>& command) {
    TRY(check_recording_place(path_));
    MeasuredSchedule measured = TRY(measure_schedule(command, env));
    EventDesc event = sched_totals_event();
    ByteBuilder records;
    for (const SchedSum& sum : measured.sums) encode_sched_sum(sum, event.attr, records);
    if (measured.lost > 0)
      encode(LostRecord{.id = 0, .lost = measured.lost},
             {.attr = &event.attr, .id = kSynthesisedId}, records);
    uint64_t bytes = TRY(write_records_file(path_, event, records.view(), env));
    if (!quiet_)
      env.err.print("[ {} sched record: Wrote the sums of {} threads to {}, {:.3f} MB ]\n",
                    env.tool, measured.sums.size(), path_, static_cast<double>(bytes) / (1 << 20));
    return measured.status;
  }

  std::unique_ptr<Command> events_ = preset(make_record(), record_words(), kSchedRecordText);
  bool summary_ = false, quiet_ = false;
  std::string path_{kDefaultPath};
  std::string about_events_;  // the flag of `record` that was given
};

}  // namespace

std::unique_ptr<Command> make_sched_record() {
  return std::make_unique<SchedRecord>();
}

std::unique_ptr<Command> make_sched_script(RecordingInput input) {
  std::vector<std::string> words;
  if (!input.path.empty()) words = {"-i", input.path};
  if (input.force) words.emplace_back("-f");
  return preset(make_script(), std::move(words), kSchedScriptText);
}

}  // namespace sonde
