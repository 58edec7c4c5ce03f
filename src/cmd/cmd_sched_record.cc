// sched record: the events of the scheduler, on the whole machine. sched script: the same as lines.
#include <unistd.h>

#include "cmd/cmd_sched.h"
#include "cmd/command_preset.h"
#include "event/tracefs.h"

namespace sonde {

std::unique_ptr<Command> make_record();
std::unique_ptr<Command> make_script();

namespace {

constexpr std::string_view kRecordText =
    R"(Records the scheduler's events on the whole machine while the command runs: context switches, run times, wakeups, forks and migrations. All of record's options may follow; -g also records where tasks left their CPU. What was recorded is read with the other subcommands of sched, and with timeline.)";
constexpr std::string_view kScriptText =
    R"(Prints the recorded events one a line, as script does, whose options it takes.)";

bool kernel_has(Tracefs& tracefs, std::string_view name) {
  return ::access((tracefs.path() + "/events/sched/" + std::string(name)).c_str(), F_OK) == 0;
}

std::vector<std::string> record_words() {
  Tracefs tracefs;
  std::vector<std::string> words = {"-a", "-R", "-m", "1024", "-c", "1"};
  auto add = [&](std::string_view event) {
    words.emplace_back("-e");
    words.push_back("sched:" + std::string(event));
  };
  add("sched_switch");
  // Only kernels with CONFIG_SCHEDSTATS tell how long tasks waited.
  for (std::string_view event : {"sched_stat_wait", "sched_stat_sleep", "sched_stat_iowait"})
    if (kernel_has(tracefs, event)) add(event);
  for (std::string_view event :
       {"sched_stat_runtime", "sched_process_fork", "sched_wakeup_new", "sched_migrate_task"})
    add(event);
  add(kernel_has(tracefs, "sched_waking") ? "sched_waking" : "sched_wakeup");
  return words;
}

}  // namespace

std::unique_ptr<Command> make_sched_record() {
  return preset(make_record(), record_words(), kRecordText);
}

std::unique_ptr<Command> make_sched_script(RecordingInput input) {
  std::vector<std::string> words;
  if (!input.path.empty()) words = {"-i", input.path};
  if (input.force) words.emplace_back("-f");
  return preset(make_script(), std::move(words), kScriptText);
}

}  // namespace sonde
