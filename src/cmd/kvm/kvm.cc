// kvm: profiles of guests, and how long the host takes to answer them.
#include "cmd/kvm/kvm.h"
#include "cli/argument_count.h"
#include "cli/command.h"
#include "cli/command_family.h"
#include "cli/command_preset.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"

namespace sonde {

std::unique_ptr<Command> make_record();
std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_diff();
std::unique_ptr<Command> make_top();
std::unique_ptr<Command> make_buildid_list();

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
    TRY(need_one_of({"kvm:kvm_exit", "kvm:kvm_mmio", "kvm:kvm_pio", "kvm:kvm_msr"}, scan,
                    "kvm stat record", env));
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

constexpr std::string_view kGuestRecordText =
    R"(record, of what guests run (of the host, too, with --host; of the host alone with --host --no-guest) into perf.data.guest, perf.data.kvm or perf.data.host. All of record's options may follow.)";
constexpr std::string_view kGuestReportText =
    R"(report, of the samples of guests, and with --host also of the host's. All of report's options may follow.)";
constexpr std::string_view kGuestDiffText =
    R"(diff, of the samples of guests, and with --host also of the host's. All of diff's options may follow.)";
constexpr std::string_view kGuestTopText =
    R"(top, of what guests run, and with --host also of the host. All of top's options may follow.)";
constexpr std::string_view kGuestBuildIdText =
    R"(buildid-list, of the objects of guests, and with --host also of the host's.)";

/// What the options before a subcommand say to it.
struct KvmOutside {
  KvmFiles files;
  GuestFiles guests;
  bool host = false, guest = true;

  /// perf's names for recordings of these sides.
  [[nodiscard]] std::string_view default_file() const {
    if (host && guest) return "perf.data.kvm";
    return host ? "perf.data.host" : kGuestFile;
  }
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> words = guest_file_words(guests);
    words.insert(words.end(), static_cast<size_t>(files.input.verbose), "-v");
    words.emplace_back(host ? "--host" : "--no-host");
    // Without the host there is nothing but guests.
    words.emplace_back(guest || !host ? "--guest" : "--no-guest");
    return words;
  }
  [[nodiscard]] std::vector<std::string> writing() const {
    std::vector<std::string> all = words();
    all.insert(all.end(),
               {"-o", files.output.empty() ? std::string(default_file()) : files.output});
    return all;
  }
  [[nodiscard]] std::vector<std::string> reading() const {
    std::vector<std::string> all = words();
    const std::string& path = files.input.path;
    all.insert(all.end(), {"-i", path.empty() ? std::string(default_file()) : path});
    if (files.input.force) all.emplace_back("-f");
    return all;
  }
  [[nodiscard]] std::vector<std::string> listing() const {
    std::vector<std::string> all = reading();
    std::erase_if(all, [](const std::string& word) {
      return word.starts_with("--guest") && word != "--guest";
    });
    return all;
  }
};

class Kvm final : public CommandFamily {
 public:
  Kvm() : CommandFamily("kvm") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {top|record|report|diff|buildid-list|stat}");
    declare_members(flags);
    flags.description(
        R"(Profiles what virtual machines run, as seen from the host: record, report, diff, top and buildid-list are the commands of these names, for guests' code, or with --host for the host's as well. The guests' kernels are named by files copied from them (--guestkallsyms, --guestmodules, --guestvmlinux), or below a directory in which the root of the guest of process PID is mounted as PID (--guestmount). The recording is perf.data.guest, with --host perf.data.kvm, with --host --no-guest perf.data.host, unless -i or -o names another.

stat shows why guests exited, and how long the host took to handle each exit: `kvm stat record` and `kvm stat report`, or `kvm stat live` while they run.)");
    flags.section("EXAMPLES", R"(  sonde kvm --guestkallsyms guest.kallsyms record -a -- sleep 5
  sonde kvm --guestkallsyms guest.kallsyms report
  sonde kvm --host --guest --guestmount ~/guests top
  sonde kvm stat record -a -- sleep 1
  sonde kvm stat report
  sonde kvm stat report --event mmio -k time
  sonde kvm stat live -d 2)");
    o_.files.input.declare(flags);
    flags.text('o', "output", o_.files.output, "file",
               "file to write (perf.data.guest, with --host perf.data.kvm)");
    declare_guest_sides(flags, o_.host, o_.guest);
    declare_guest_files(flags, o_.guests);
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"top", [this] { return preset(make_top(), o_.words(), kGuestTopText); }},
            {"record", [this] { return preset(make_record(), o_.writing(), kGuestRecordText); }},
            {"report", [this] { return preset(make_report(), o_.reading(), kGuestReportText); }},
            {"diff", [this] { return preset(make_diff(), o_.words(), kGuestDiffText); }},
            {"buildid-list",
             [this] { return preset(make_buildid_list(), o_.listing(), kGuestBuildIdText); }},
            {"stat", [this] { return std::make_unique<KvmStatCommand>(o_.files); }}};
  }

  KvmOutside o_;
};

}  // namespace

void declare_kvm_view(FlagTable& flags, KvmOptions& options) {
  flags
      .call(0, "event", "report event",
            "vmexit: exits by reason (the default); mmio: accesses to device memory; ioport: to "
            "ports",
            [&options](std::string_view word) -> Result<> {
              options.view = TRY(parse_kvm_view(word));
              return {};
            })
      .offers({"vmexit", "mmio", "ioport"});
  flags.number(0, "vcpu", options.vcpu, "n", "only this virtual CPU of each machine");
  flags
      .call('k', "key", "sort-key",
            "sort by: sample, how often something happened (the default), or time, how long on "
            "average",
            [&options](std::string_view word) -> Result<> {
              options.sort = TRY(parse_kvm_sort(word));
              return {};
            })
      .offers({"sample", "time"});
  flags.call('p', "pid", "pid", "only the virtual machines of these processes",
             numbers_into(options.pids));
}

std::unique_ptr<Command> make_kvm() {
  return std::make_unique<Kvm>();
}

}  // namespace sonde
