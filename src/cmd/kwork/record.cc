// kwork record: the tracepoints of the kernel's work, on the whole machine.

#include "cli/command_preset.h"
#include "cmd/kwork/kwork.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

constexpr std::string_view kRecordHelp =
    R"(Records the kernel's work on the whole machine while the command runs: interrupts, softirqs and work items (`kwork -k` chooses), and with `-k sched` which tasks run. All of record's options may follow; -g also records where the work began. The other subcommands of kwork read the recording.)";

}  // namespace

std::unique_ptr<Command> make_kwork_record(KworkRequest request) {
  if (request.classes.empty()) request.classes = WorkOptions().classes;
  std::vector<std::string> words = {"-a", "-R", "-m", "1024", "-c", "1"};
  if (request.input.dump) words.emplace_back("--dump-raw-trace");  // record refuses it
  for (const TracepointRequest& tracepoint : work_requests(request.classes)) {
    words.emplace_back("-e");
    words.emplace_back(tracepoint.name);
  }
  return preset(make_record(), std::move(words), kRecordHelp);
}

}  // namespace sonde
