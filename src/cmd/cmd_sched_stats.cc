// sched stats: the scheduler's own counters before and after: recorded, shown or compared.
#include <fcntl.h>

#include <algorithm>

#include "capture/session_features.h"
#include "cmd/argument_count.h"
#include "cmd/cmd_sched.h"
#include "cmd/measured_command.h"
#include "cmd/profile_flags.h"
#include "cmd/records_file.h"
#include "perfdata/file_walk.h"
#include "sched/schedstat_domains.h"
#include "sched/schedstat_records.h"
#include "sched/schedstat_table.h"

namespace sonde {
namespace {

constexpr const char* kCounters = "/proc/schedstat";
constexpr const char* kSwitch = "/proc/sys/kernel/sched_schedstats";

Result<Schedstat> counters_now() {
  auto text = read_file(kCounters);
  if (!text && text.error().code == ErrorCode::kNotFound)
    return fail(ErrorCode::kUnsupported,
                "{}: this kernel has no counters of its scheduler: it is built without "
                "CONFIG_SCHEDSTATS; 'sched record' and 'sched latency' work without",
                kCounters);
  return parse_schedstat(TRY(std::move(text)), kCounters);
}

/// The kernel counts only while enabled; enables it for this object's lifetime if it was off.
class Counting {
 public:
  static Result<Counting> start() {
    Counting counting;
    auto now = read_file(kSwitch);
    if (!now || !now->starts_with('0')) return counting;
    TRY(set("1"));
    counting.stop_ = true;
    return counting;
  }
  Counting(Counting&& other) noexcept : stop_(std::exchange(other.stop_, false)) {}
  Counting& operator=(Counting&&) = delete;
  ~Counting() {
    if (stop_) (void)set("0");
  }

 private:
  Counting() = default;
  static Result<> set(std::string_view value) {
    Fd fd(::open(kSwitch, O_WRONLY | O_CLOEXEC));
    if (!fd.valid())
      return fail(ErrorCode::kPermission,
                  "{}: cannot be set to 1, without which the kernel does not count; root can",
                  kSwitch);
    return write_all(fd.get(), kSwitch, as_bytes(value));
  }
  bool stop_ = false;
};

struct Moments {
  Schedstat before, after;
  int status = 0;
};

Result<Moments> measure(const std::vector<std::string>& command) {
  Moments moments;
  TRY(counters_now());
  MeasuredCommand measured = TRY(MeasuredCommand::fork(command));
  Counting counting = TRY(Counting::start());
  moments.before = TRY(counters_now());
  moments.status = TRY(measured.run());
  moments.after = TRY(counters_now());
  return moments;
}

/// The counts between a recording's first and last moment.
Result<Schedstat> counted_in(const std::string& path, const OpenOptions& options, Env& env) {
  FileWalk walk = TRY(FileWalk::open(path, options, env.losses));
  SchedstatReader reader;
  uint64_t bad = 0;
  for (auto blocks = walk.next(); !blocks.empty(); blocks = walk.next())
    for (const RecordBlock& block : blocks) {
      RecordView record;
      for (RecordRange range(block, walk.facts().order); range.next(record);)
        bad += reader.take(record) ? 0 : 1;
    }
  env.losses.add(LossKind::k_bad_record, bad);
  if (reader.moments().size() < 2)
    return fail(ErrorCode::kFailed,
                "{}: has no counters of the scheduler from two moments; '{} sched stats record' "
                "records them",
                path, env.tool);
  Schedstat counted = TRY(schedstat_between(reader.moments().front(), reader.moments().back()));
  if (walk.features().sched_domains) name_domains(counted, *walk.features().sched_domains);
  return counted;
}

class StatsRecord final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.stop_at_first_word();
    flags.description(
        R"(Keeps the scheduler's counters of all CPUs, /proc/schedstat, as they are before and after the command; without a command, now and when it is interrupted. Nothing is measured in between, so the load is not disturbed.)");
    flags.text('o', "output", path_, "file", "output file name");
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    Moments moments = TRY(measure(arguments.words));
    // perf's files have no event at all, which other readers take for corruption.
    EventDesc nothing;
    nothing.attr.type = abi::kTypeSoftware;
    nothing.attr.config = abi::kSwDummy;
    nothing.name = "dummy:HG";
    ByteBuilder records;
    if (!encode_schedstat(moments.before, records) || !encode_schedstat(moments.after, records))
      return fail(ErrorCode::kCorrupt, "{}: a domain's line is too long for a record", kCounters);
    Features domains;
    domains.sched_domains = domains_of(moments.before);
    TRY(write_records_file(path_, nothing, records.view(), env, std::move(domains)));
    env.err.print("[ {} sched stats: Wrote samples to {} ]\n", env.tool, path_);
    return moments.status;
  }

 private:
  std::string path_ = "perf.data";
};

/// Flags of the commands that show counters.
struct StatsView {
  std::vector<uint32_t> cpus;

  void declare(FlagTable& flags) {
    flags.call('C', "cpu", "cpu", "list of cpus to show", numbers_into(cpus));
  }
  [[nodiscard]] SchedstatTableOptions options(int verbose) const {
    SchedstatTableOptions options{.descriptions = verbose > 0};
    if (!cpus.empty())
      options.shows_cpu = [this](uint32_t cpu) {
        return std::ranges::find(cpus, cpu) != cpus.end();
      };
    return options;
  }
};

class StatsReport final : public Command {
 public:
  explicit StatsReport(RecordingInput input) : input_(std::move(input)) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(What the scheduler counted during a recording of `sched stats record`: on the average CPU and on each, and in each of their scheduling domains. Behind counters that are a part of another stands how large a part; behind events, how many jiffies passed from one to the next on average. Lines with a star are computed from others. -v writes words instead of the counters' names.)");
    view_.declare(flags);
    input_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }
  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    Schedstat counted = TRY(counted_in(input_.chosen_path(env), input_.open_options(env), env));
    write_schedstat(env.out, counted, view_.options(input_.verbose));
    return 0;
  }

 private:
  RecordingInput input_;
  StatsView view_;
};

class StatsDiff final : public Command {
 public:
  explicit StatsDiff(RecordingInput input) : input_(std::move(input)) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<old file> <new file>]");
    flags.description(
        R"(The average CPU and its domains in two recordings of `sched stats record` side by side, and by how many percent the second differs: perf.data.old and perf.data, where no files are named.)");
    flags.boolean('f', "force", input_.force, "don't complain, do it");
    flags.count('v', "verbose", input_.verbose, "be more verbose");
  }
  [[nodiscard]] bool paged() const override { return true; }
  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() != 0 && arguments.size() != 2)
      return fail(ErrorCode::kUsage, "Error: two files are compared, not {}", arguments.size());
    std::string old_path = arguments.empty() ? "perf.data.old" : arguments[0];
    std::string new_path = arguments.empty() ? "perf.data" : arguments[1];
    OpenOptions options = input_.open_options(env);
    Schedstat first = TRY(counted_in(old_path, options, env));
    Schedstat second = TRY(counted_in(new_path, options, env));
    if (first.version != second.version)
      return fail(ErrorCode::kFailed,
                  "{} has counters of version {}, {} of version {}: they are not the same",
                  old_path, first.version, new_path, second.version);
    write_schedstat_diff(env.out, first, second, {.descriptions = input_.verbose > 0});
    return 0;
  }

 private:
  RecordingInput input_;
};

class SchedStats final : public Command {
 public:
  explicit SchedStats(RecordingInput input) : input_(std::move(input)) {}
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|report|diff} | [<command>]");
    flags.subcommands({"record", "report", "diff"});
    flags.stop_at_first_word();
    flags.description(
        R"(What the scheduler itself counts (/proc/schedstat), before and after a command: how often it switched, balanced its load and woke tasks up, and how long tasks ran and waited, per CPU and per scheduling domain. `record` keeps that, `report` and `diff` show it; without one of these words, it is shown as soon as the command has ended. It costs the load nothing, and needs a kernel with CONFIG_SCHEDSTATS.)");
    flags.section("EXAMPLES", R"(  sonde sched stats record -- make -j8
  sonde sched stats report
  sonde sched stats diff before.data after.data
  sonde sched stats -- sleep 5)");
    view_.declare(flags);
    flags.count('v', "verbose", input_.verbose, "be more verbose");
  }
  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty()) return nullptr;
    if (arguments[0] == "record") return std::make_unique<StatsRecord>();
    if (arguments[0] == "report") return std::make_unique<StatsReport>(input_);
    if (arguments[0] == "diff") return std::make_unique<StatsDiff>(input_);
    return nullptr;
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    Moments moments = TRY(measure(arguments.words));
    Schedstat counted = TRY(schedstat_between(moments.before, moments.after));
    write_schedstat(env.out, counted, view_.options(input_.verbose));
    return moments.status;
  }

 private:
  RecordingInput input_;
  StatsView view_;
};

}  // namespace

std::unique_ptr<Command> make_sched_stats(RecordingInput input) {
  return std::make_unique<SchedStats>(std::move(input));
}

}  // namespace sonde
