// Arbitrary bytes as a recording, summed by `lock`. No crash, no read outside the input.
#include "base/env.h"
#include "base/loss.h"
#include "base/sys.h"
#include "fuzz/fuzz_target.h"
#include "lock/contention_stats.h"
#include "lock/lock_tables.h"
#include "lock/lockdep_stats.h"
#include "perfdata/read/recording.h"

namespace {

using namespace sonde;

void add_up(const Recording& recording, LockGrouping grouping, size_t max_stack) {
  LossLedger losses;
  FileScan scan(recording, losses);
  ScanMachine machine(scan);
  LockPipeline pipeline(scan, machine, max_stack, losses);
  LockFunctions functions(LockFunctions::Ranges{{0xffffffff81000000, 0xffffffff81000020}});
  // The kernel is unknown: chain addresses are examined, not named.
  StringSink out, err;
  FileScan other(recording, losses);
  ScanMachine kernel(other);
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  SymbolOptions symbols;
  symbols.kallsyms = "/dev/null";
  symbols.vmlinux = "/dev/null";
  symbols.buildid_dir = "/dev/null";
  kernel.finalize(symbols, env);
  LockCallers callers(pipeline, functions, kernel, {});
  LockRowTable table;
  ContentionStats waits({.grouping = grouping, .keep_stacks = true}, pipeline, callers, table);
  LockdepStats uses(grouping, pipeline, table);
  pipeline.run([&](std::span<const LockEvent> events) {
    for (const LockEvent& event : events) {
      waits.consume(event);
      uses.consume(event);
    }
  });
  LockTableStyle style;
  style.columns = contention_columns();
  style.grouping = grouping;
  style.stacks = true;
  style.thread_name = [](uint32_t) { return std::string("thread"); };
  style.lock_name = style.address_name = [](uint64_t) { return std::string("name"); };
  std::vector<LockRow> rows = table.rows();
  write_contention(out, rows, style);
  write_lock_report(out, rows, style);
  write_broken(out, rows, table.broken(), true);
  write_lock_map(out, rows);
  combine_lock_rows(rows);
}

}  // namespace

FUZZ_TARGET(lock)(const uint8_t* data, size_t size) {
  LossLedger losses;
  auto recording =
      Recording::open_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz", losses);
  if (!recording) return 0;
  add_up(*recording, LockGrouping::kCaller, 8);
  add_up(*recording, LockGrouping::kLock, 127);
  add_up(*recording, LockGrouping::kThread, 1);
  return 0;
}
