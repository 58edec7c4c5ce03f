// lock contention -b: waits accumulated in the kernel as they happen.
#include <algorithm>
#include <map>

#include "base/output_file.h"
#include "bpf/lock_waits.h"
#include "capture/control/measured_command.h"
#include "capture/opening/followed_target.h"
#include "capture/synthesis/synthesis_cgroup.h"
#include "cmd/lock/contention.h"
#include "lock/live_waits.h"
#include "symbol/kallsyms.h"

namespace sonde {
namespace {

constexpr std::string_view kKallsyms = "/proc/kallsyms";

LockWaits::By by_of(LockGrouping grouping) {
  switch (grouping) {
    case LockGrouping::kThread:
      return LockWaits::By::kThread;
    case LockGrouping::kLock:
      return LockWaits::By::kLock;
    case LockGrouping::kOwner:
      return LockWaits::By::kOwner;
    case LockGrouping::kCgroup:
      return LockWaits::By::kCgroup;
    default:
      return LockWaits::By::kStack;
  }
}

Result<> check(const ContentionOptions& options, LockGrouping grouping) {
  if (!options.functions.empty() && grouping != LockGrouping::kCaller)
    return fail(
        ErrorCode::kUsage,
        "Error: -S with -b filters callers: it excludes -g, -t, -l and -o, whose rows have no "
        "call chains");
  return {};
}

Result<std::vector<uint64_t>> chosen_cgroups(const ContentionOptions& options) {
  std::vector<uint64_t> ids;
  for (const std::string& name : options.cgroups) {
    auto id = TRY(cgroup_by_name(name));
    if (!id)
      for (const auto& [root, path] : cgroup_paths())
        if (path == "/") id = root;
    if (id) ids.push_back(*id);
  }
  return ids;
}

void name_cgroups(std::vector<LockRow>& rows, std::map<uint64_t, std::string> paths) {
  paths.merge(cgroup_paths());
  for (LockRow& row : rows) {
    auto found = paths.find(row.key);
    row.name = found == paths.end() ? fmt::format("unknown ({})", row.key) : found->second;
  }
}

void report_lost(const LockWaits::Lost& lost, Env& env) {
  if (lost.waits > 0)
    env.err.print("{} waits were not measured: too many were in progress at once\n", lost.waits);
  if (lost.stacks + lost.rows > 0)
    env.err.print("{} waits have no row, and {} call chains were lost; increase --map-nr-entries\n",
                  lost.rows, lost.stacks);
}

}  // namespace

Result<int> measure_contention(const ContentionOptions& options, LockTableStyle style,
                               const LockColumn& key, const std::vector<std::string>& command,
                               Env& env) {
  TRY(check(options, style.grouping));
  LockNames names{std::string(kKallsyms)};
  LockWaits::Options wanted{.by = by_of(style.grouping), .most_rows = options.most_sums};
  wanted.tasks = TRY(followed_tasks(options.pids, options.tids));
  wanted.locks = TRY(names.addresses(options.locks));
  LockTypeFilter types = TRY(options.type_filter());
  wanted.types.assign(types.flags().begin(), types.flags().end());
  wanted.cpus = options.cpus;
  wanted.cgroups = TRY(chosen_cgroups(options));
  // Some are gone by the end.
  std::map<uint64_t, std::string> cgroups;
  if (style.grouping == LockGrouping::kCgroup) cgroups = cgroup_paths();
  MeasuredCommand measured = TRY(MeasuredCommand::fork(command, env));
  measured.choose_tasks(options.all_cpus, wanted.tasks);
  LockWaits waits = TRY(LockWaits::open(wanted));
  if (!wanted.tasks.enable_on_exec) waits.set_enabled(true);
  int status = TRY(measured.run());
  waits.set_enabled(false);

  // While the programs are loaded, the symbol list includes them.
  Kallsyms symbols = TRY(Kallsyms::read(std::string(kKallsyms)));
  KernelNamer namer = [&](uint64_t address) -> std::optional<KernelSymbol> {
    const Symbol* symbol = symbols.table().find(address);
    if (symbol == nullptr) return std::nullopt;
    return KernelSymbol{symbol->name(), symbol->start, address - symbol->start};
  };
  LiveWaitOptions how{.grouping = style.grouping,
                      .callers = {options.stack_skip, options.functions},
                      .max_stack = options.max_stack};
  std::vector<LockRow> rows =
      rows_of_live_waits(waits.rows(), how, LockFunctions(std::string(kKallsyms)), namer);
  if (style.grouping == LockGrouping::kCgroup) name_cgroups(rows, std::move(cgroups));
  sort_lock_rows(rows, key);
  style.thread_name = [&](uint32_t tid) {
    auto row = std::ranges::find(rows, tid, &LockRow::key);
    return row == rows.end() ? std::string() : row->name;
  };
  style.lock_name = [&](uint64_t address) { return names.name(address); };
  style.address_name = [&](uint64_t address) {
    auto symbol = namer(address);
    return symbol ? symbol->label() : std::string();
  };
  OutputFile output = TRY(OutputFile::open(options.output, env));
  write_contention(output.sink(), rows, style);
  TRY(output.finish());
  if (!options.lock.quiet) report_lost(waits.lost(), env);
  return status;
}

}  // namespace sonde
