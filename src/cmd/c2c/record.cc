// c2c record: record with the events and sample fields that tell who shares a cache line.
#include "cmd/c2c/c2c.h"
#include "cmd/options/memory_event_flags.h"
#include "cmd/options/run_record.h"

namespace sonde {
namespace {

constexpr std::string_view kSampleWords[] = {"-W", "-d", "--phys-data", "--sample-cpu"};

class C2cRecord final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.usage("[<options>] -- [<record command options>] <command>");
    flags.description(
        R"(Records memory accesses with their addresses, physical addresses and CPUs, and how each was served. Options of record follow `--`, or their names if they are none of these.)");
    events_.declare(flags, {.all_kernel = 'k', .all_user = 'u', .load_latency = 'l'});
    flags.keep_unknown();
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (events_.list_wanted()) return events_.list(env);
    std::vector<std::string> words(std::begin(kSampleWords), std::end(kSampleWords));
    TRY(events_.append_words({}, words));
    words.insert(words.end(), arguments.words.begin(), arguments.words.end());
    return run_record(words, "c2c record", env);
  }

 private:
  MemoryEventFlags events_;
};

}  // namespace

std::unique_ptr<Command> make_c2c_record() {
  return std::make_unique<C2cRecord>();
}

}  // namespace sonde
