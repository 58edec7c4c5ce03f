// timechart record: records scheduler and CPU power events, or system calls that do I/O.
#include <unistd.h>

#include "analysis/timelines/io_calls.h"
#include "cli/command_preset.h"
#include "cmd/timechart/timechart.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

constexpr std::string_view kTimechartRecordText =
    R"(Records what timechart draws, on the whole machine while the command runs: scheduler switches and wakeups, and CPU idle states and frequencies; with -I, the system calls that read, write, sync and poll. -T leaves out CPU power events, -P leaves out tasks.)";

class TimechartRecord final : public Command {
 public:
  explicit TimechartRecord(ChartParts parts) : parts_(parts) {}

  Result<> configure(const Config& config) override { return record_->configure(config); }
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.stop_at_first_word();
    flags.description(kTimechartRecordText);
    flags.boolean('P', "power-only", parts_.power_only,
                  "record only idle states and frequencies of CPUs");
    flags.boolean('T', "tasks-only", parts_.tasks_only, "record only what tasks do");
    flags.boolean('I', "io-only", io_only_, "record system calls that do I/O, and nothing else");
    flags.boolean('g', "callchain", with_stacks_, "also record call chains");
    flags.text('o', "output", output_, "file", "file to write (perf.data)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (parts_.power_only && parts_.tasks_only)
      return fail(ErrorCode::kUsage,
                  "Error: -P records no tasks, and -T nothing else: give one of them");
    std::unique_ptr<Command> record =
        preset(std::move(record_), TRY(words()), kTimechartRecordText);
    FlagTable flags;
    record->declare(flags);
    return record->run(env, arguments);
  }

 private:
  [[nodiscard]] Result<std::vector<std::string>> words() const {
    std::vector<std::string> words = {"-a", "-R", "-m", "1024", "-c", "1"};
    if (with_stacks_) words.emplace_back("-g");
    if (!output_.empty()) words.insert(words.end(), {"-o", output_});
    Tracefs tracefs;
    size_t events = 0;
    auto add = [&](std::string_view system, const std::string& name) {
      if (!tracefs.has(system, name)) return;
      words.emplace_back("-e");
      words.push_back(std::string(system) + ":" + name);
      // Otherwise the recorder's own writes would feed themselves for ever.
      if (io_only_) words.emplace_back("--exclude-perf");
      ++events;
    };
    if (io_only_) {
      for (const IoCallName& call : io_call_names()) {
        add("syscalls", "sys_enter_" + std::string(call.name));
        add("syscalls", "sys_exit_" + std::string(call.name));
      }
    } else {
      if (!parts_.power_only)
        for (const char* name : {"sched_wakeup", "sched_switch"}) add("sched", name);
      if (!parts_.tasks_only)
        for (const char* name : {"cpu_frequency", "cpu_idle"}) add("power", name);
    }
    if (events == 0)
      return fail(ErrorCode::kFailed,
                  "{}: the kernel has none of the events needed, or does not permit reading them",
                  tracefs.path());
    return words;
  }

  ChartParts parts_;
  bool io_only_ = false, with_stacks_ = false;
  std::string output_;
  std::unique_ptr<Command> record_ = make_record();
};

}  // namespace

std::unique_ptr<Command> make_timechart_record(ChartParts parts) {
  return std::make_unique<TimechartRecord>(parts);
}

}  // namespace sonde
