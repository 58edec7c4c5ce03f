// kvm: how long the host takes to answer its guests.
#include "cmd/kvm/kvm.h"
#include "cli/argument_count.h"
#include "cli/command.h"
#include "cli/command_family.h"
#include "cli/command_preset.h"
#include "cli/refused_options.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

constexpr std::string_view kGuestFile = "perf.data.guest";  // perf's name for it
constexpr std::string_view kExitsText =
    R"(Records guest exits and entries, on the whole machine (-a) or of a virtual machine's process (-p), until the command ends. All of record's options may follow.)";

/// `kvm stat` and its subcommands know the files named before them.
struct KvmFiles {
  RecordingInput input;
  std::string output;
};

std::vector<std::string> record_words(const KvmFiles& files) {
  std::vector<std::string> words = {"-R", "-m", "1024", "-c", "1"};
  for (const TracepointRequest& request : kvm_tracepoints()) {
    words.emplace_back("-e");
    words.emplace_back(request.name);
  }
  words.insert(words.end(), {"-o", files.output.empty() ? std::string(kGuestFile) : files.output});
  return words;
}

class KvmStatReport final : public Command {
 public:
  explicit KvmStatReport(KvmFiles files) : files_(std::move(files)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(A table of why guests exited: how often, and how long the host took until they ran again. --event mmio and ioport instead show the device memory and the ports that they read and wrote.)");
    declare_kvm_view(flags, options_);
    files_.input.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    const RecordingInput& input = files_.input;
    std::string path = input.path.empty() ? std::string(kGuestFile) : input.path;
    FileScan scan = TRY(FileScan::open(path, input.open_options(env), env.losses));
    options_.machine = TRY(kvm_machine_of(scan.features().cpu_id.value_or("")));
    TracepointPipeline pipeline(scan, kvm_tracepoints(), env.losses);
    KvmStat stat(options_);
    pipeline.run([&](std::span<const TracepointItem> items) {
      for (const TracepointItem& item : items) stat.consume(item);
    });
    stat.write(env.out);
    report_unknown_exits(stat.unknown_exits(), options_.machine, env);
    return 0;
  }

 private:
  KvmFiles files_;
  KvmOptions options_;
};

class KvmStatCommand final : public CommandFamily {
 public:
  explicit KvmStatCommand(KvmFiles files) : CommandFamily("kvm stat"), files_(std::move(files)) {}

  void declare(FlagTable& flags) override {
    flags.usage("{record|report|live}");
    declare_members(flags);
    flags.description(
        R"(Records guest exits and entries, and adds them up, afterwards or as they happen.)");
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"record", [this] { return preset(make_record(), record_words(files_), kExitsText); }},
            {"report", [this] { return std::make_unique<KvmStatReport>(files_); }},
            {"live", [] { return make_kvm_stat_live(); }}};
  }

  KvmFiles files_;
};

constexpr const char* kNoGuests = "the code of guests is not profiled from outside";
constexpr std::array kGuestOptions{
    RefusedOption{0, "guest", nullptr, "Collect guest os data", kNoGuests},
    RefusedOption{0, "host", nullptr, "Collect host os data", kNoGuests},
    RefusedOption{0, "guest-code", nullptr, "Guest code can be found in hypervisor process",
                  kNoGuests},
    RefusedOption{0, "guestmount", "directory", "guest mount directory", kNoGuests},
    RefusedOption{0, "guestvmlinux", "file", "file saving guest os vmlinux", kNoGuests},
    RefusedOption{0, "guestkallsyms", "file", "file saving guest os /proc/kallsyms", kNoGuests},
    RefusedOption{0, "guestmodules", "file", "file saving guest os /proc/modules", kNoGuests},
};

class Kvm final : public CommandFamily {
 public:
  Kvm() : CommandFamily("kvm") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {stat}");
    declare_members(flags);
    flags.description(
        R"(Shows why KVM guests exited, and how long the host took to handle each exit: `kvm stat record` and `kvm stat report`, or `kvm stat live` while they run. The recording is perf.data.guest, unless -i or -o names another.)");
    flags.section("EXAMPLES", R"(  sonde kvm stat record -a -- sleep 1
  sonde kvm stat report
  sonde kvm stat report --event mmio -k time
  sonde kvm stat live -d 2)");
    files_.input.declare(flags);
    flags.text('o', "output", files_.output, "file", "Output file name");
    declare_refused(flags, kGuestOptions);
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"stat", [this] { return std::make_unique<KvmStatCommand>(files_); }}};
  }

  KvmFiles files_;
};

}  // namespace

void declare_kvm_view(FlagTable& flags, KvmOptions& options) {
  flags
      .call(0, "event", "report event",
            "event for reporting: vmexit, mmio (x86 only), ioport (x86 only)",
            [&options](std::string_view word) -> Result<> {
              options.view = TRY(parse_kvm_view(word));
              return {};
            })
      .offers({"vmexit", "mmio", "ioport"});
  flags.number(0, "vcpu", options.vcpu, "n", "vcpu id to report");
  flags
      .call('k', "key", "sort-key",
            "key for sorting: sample(sort by samples number) time (sort by avg time)",
            [&options](std::string_view word) -> Result<> {
              options.sort = TRY(parse_kvm_sort(word));
              return {};
            })
      .offers({"sample", "time"});
  flags.call('p', "pid", "pid", "analyze events only for given process id(s)",
             numbers_into(options.pids));
}

std::unique_ptr<Command> make_kvm() {
  return std::make_unique<Kvm>();
}

}  // namespace sonde
