// lock: who waits for which kernel lock.
#include "cmd/lock/lock.h"
#include "cli/command_family.h"

#include "cli/command_preset.h"
#include "cmd/options/profile_flags.h"

namespace sonde {

std::unique_ptr<Command> make_script();

void LockOptions::declare(FlagTable& flags) {
  flags.boolean('D', "dump-raw-trace", input.dump, "print every record before the table");
  input.declare(flags);
  flags.boolean('q', "quiet", quiet,
                "no headings, and no notes on events that were lost or contradict each other");
  flags.text(0, "vmlinux", symbols.vmlinux, "file", "kernel image with symbols");
  flags.text(0, "kallsyms", symbols.kallsyms, "file",
             "list of the kernel's symbols, such as a copy of /proc/kallsyms");
  declare_unverified_symbols(flags, symbols);
}

namespace {

constexpr std::string_view kScriptText =
    R"(Prints the recorded events one per line, like script, whose options it takes.)";

class Lock final : public CommandFamily {
 public:
  Lock() : CommandFamily("lock") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|report|script|info|contention}");
    declare_members(flags);
    flags.description(
        R"(Records how threads wait for kernel locks (`lock record`), and shows which places waited, for how long, and for what kind of lock (`contention`), the same by lock (`report`), and which threads and locks there were (`info`). `contention -b` needs no recording: the kernel itself adds up the waits. `script` prints the events.

The options here may also follow the subcommand.)");
    flags.section("EXAMPLES", R"(  sonde lock record -a -- sleep 1
  sonde lock contention
  sonde lock contention -t -k wait_max
  sonde lock contention -ab -- sleep 1)");
    options_.declare(flags);
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"record", [this] { return make_lock_record(options_); }},
            {"report", [this] { return make_lock_report(options_); }},
            {"script", [this] { return make_lock_script(options_); }},
            {"info", [this] { return make_lock_info(options_); }},
            {"contention", [this] { return make_lock_contention(options_); }}};
  }

  LockOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_lock_script(const LockOptions& options) {
  std::vector<std::string> words;
  if (!options.input.path.empty()) words = {"-i", options.input.path};
  if (options.input.force) words.emplace_back("-f");
  if (options.input.dump) words.emplace_back("-D");
  return preset(make_script(), std::move(words), kScriptText);
}

std::unique_ptr<Command> make_lock() {
  return std::make_unique<Lock>();
}

}  // namespace sonde
