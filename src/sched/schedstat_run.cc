#include "sched/schedstat_run.h"

#include <fcntl.h>

#include <utility>

#include "base/file.h"
#include "capture/synthesis/records_file.h"
#include "sched/schedstat_domains.h"
#include "sched/schedstat_records.h"

namespace sonde {
namespace {

constexpr const char* kSchedstatFile = "/proc/schedstat";
constexpr const char* kSchedstatsSetting = "/proc/sys/kernel/sched_schedstats";

Result<Schedstat> counters_now() {
  auto text = read_file(kSchedstatFile);
  if (!text && text.error().code == ErrorCode::kNotFound)
    return fail(ErrorCode::kUnsupported,
                "{}: this kernel has no scheduler counters: it is built without CONFIG_SCHEDSTATS; "
                "'sched record' and 'sched latency' work without them",
                kSchedstatFile);
  return parse_schedstat(TRY(std::move(text)), kSchedstatFile);
}

/// The kernel counts only while enabled; enables it for this object's lifetime if it was off.
class Counting {
 public:
  static Result<Counting> start() {
    Counting counting;
    auto now = read_file(kSchedstatsSetting);
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
    Fd fd(::open(kSchedstatsSetting, O_WRONLY | O_CLOEXEC));
    if (!fd.valid())
      return fail(ErrorCode::kPermission,
                  "{}: cannot be set to 1, and the kernel does not count otherwise: run as root",
                  kSchedstatsSetting);
    return write_all(fd.get(), kSchedstatsSetting, as_bytes(value));
  }
  bool stop_ = false;
};

}  // namespace

Result<SchedstatRun> measure_schedstat(const std::vector<std::string>& command, Env& env) {
  SchedstatRun run;
  TRY(counters_now());
  MeasuredCommand measured = TRY(MeasuredCommand::fork(command, env));
  Counting counting = TRY(Counting::start());
  run.before = TRY(counters_now());
  run.status = TRY(measured.run());
  run.after = TRY(counters_now());
  run.command.emplace(std::move(measured));
  return run;
}

Result<> write_schedstat_file(const std::string& path, const SchedstatRun& run, const Env& env) {
  // perf's files have no event at all, which other readers take for corruption.
  EventDesc nothing;
  nothing.attr.type = abi::kTypeSoftware;
  nothing.attr.config = abi::kSwDummy;
  nothing.name = "dummy:HG";
  ByteBuilder records;
  if (!encode_schedstat(run.before, records) || !encode_schedstat(run.after, records))
    return fail(ErrorCode::kCorrupt, "{}: a domain's line is too long for a record",
                kSchedstatFile);
  Features domains;
  domains.sched_domains = domains_of(run.before);
  TRY(write_records_file(path, nothing, records.view(), env, std::move(domains)));
  return {};
}

Result<Schedstat> schedstat_of_file(const std::string& path, const OpenOptions& options, Env& env) {
  FileScan scan = TRY(FileScan::open(path, options, env.losses));
  SchedstatReader reader;
  uint64_t bad = 0;
  for (auto blocks = scan.next(); !blocks.empty(); blocks = scan.next())
    for (const RecordBlock& block : blocks) {
      RecordView record;
      for (RecordRange range(block, scan.facts().order); range.next(record);)
        bad += reader.consume(record) ? 0 : 1;
    }
  env.losses.add(LossKind::k_bad_record, bad);
  if (reader.snapshots().size() < 2)
    return fail(
        ErrorCode::kFailed,
        "{}: has no scheduler counters from two moments; '{} sched stats record' records them",
        path, env.tool);
  Schedstat counted = TRY(schedstat_between(reader.snapshots().front(), reader.snapshots().back()));
  if (scan.features().sched_domains) name_domains(counted, *scan.features().sched_domains);
  return counted;
}

}  // namespace sonde
