// mem record: record with the events and sample fields of memory accesses.
#include "cli/front_command.h"
#include "cmd/mem/mem.h"
#include "cmd/options/memory_event_flags.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

class MemRecord final : public FrontCommand {
 public:
  explicit MemRecord(MemOptions options)
      : FrontCommand(make_record()), options_(std::move(options)) {}

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (events_.list_wanted()) return events_.list(env);
    return FrontCommand::run(env, arguments);
  }

 private:
  void declare_own(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.usage("[<options>] -- <command> [<options>]");
    flags.description(
        R"(Records memory accesses: their data addresses, how each was served, and where the hardware measures it, how long it took. All of record's options may be given, except that -p, -t, -U and -e have the meaning below; --pid and --tid choose processes and threads.)");
    options_.declare_shared(flags);
    events_.declare(flags, {.all_kernel = 'K', .all_user = 'U', .load_latency = 0});
  }

  Result<std::vector<std::string>> words_behind(Env& /*env*/) override {
    std::vector<std::string> words;
    if (options_.operations.loads) words.emplace_back("-W");
    words.emplace_back("-d");
    if (options_.physical_addresses) words.emplace_back("--phys-data");
    if (options_.page_sizes) words.emplace_back("--data-page-size");
    if (options_.cpus) words.push_back("--cpu=" + *options_.cpus);
    TRY(events_.append_words(options_.operations, words));
    return words;
  }

  MemOptions options_;
  MemoryEventFlags events_;
};

}  // namespace

std::unique_ptr<Command> make_mem_record(MemOptions options) {
  return std::make_unique<MemRecord>(std::move(options));
}

}  // namespace sonde
