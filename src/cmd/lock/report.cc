// lock report: waits by lock. lock info: which threads and locks there were.
#include "cli/argument_count.h"
#include "cmd/lock/lock.h"
#include "lock/contention_stats.h"
#include "lock/lock_recording.h"
#include "lock/lock_tables.h"
#include "lock/lockdep_stats.h"

namespace sonde {
namespace {

constexpr size_t kMaxStack = 8;

/// A recording and its sums.
struct LockTotals {
  std::unique_ptr<LockRecording> recording;
  LockRowTable table;
};

Result<LockTotals> add_up(const LockOptions& options, LockGrouping grouping, Env& env) {
  TRY(options.input.dump_first(env));
  LockTotals sums;
  sums.recording =
      TRY(LockRecording::open(options.input.chosen_path(env), options.input.open_options(env),
                              options.symbols, kMaxStack, env));
  const LockPipeline& pipeline = sums.recording->pipeline();
  if (!pipeline.has(LockEventKind::kContentionBegin) && !pipeline.has(LockEventKind::kAcquire))
    return fail(ErrorCode::kFailed,
                "{}: neither lock:contention_begin nor lock:lock_acquire events. Have you run '{} "
                "lock record'?",
                options.input.chosen_path(env), env.tool);
  LockCallers callers(pipeline, sums.recording->functions(), sums.recording->kernel(), {});
  ContentionStats waits({.grouping = grouping}, pipeline, callers, sums.table);
  LockdepStats uses(grouping, pipeline, sums.table);
  sums.recording->run([&](std::span<const LockEvent> events) {
    for (const LockEvent& event : events) {
      waits.consume(event);
      uses.consume(event);
    }
  });
  return sums;
}

class LockReport final : public Command {
 public:
  explicit LockReport(LockOptions options) : options_(std::move(options)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(A line per lock of a recording by `lock record`: its name is that of the place that first waited for it or, on kernels with CONFIG_LOCK_STAT, its own. -c merges locks of the same name into one line; -t prints a line per thread.)");
    flags.text('k', "key", key_, "acquired",
               "column to sort by: acquired (the default), contended, avg_wait, wait_total, "
               "wait_max, wait_min");
    flags.text(
        'F', "field", fields_, "...",
        "columns to show, of acquired, contended, avg_wait, wait_total, wait_max, wait_min (all)");
    flags.boolean('t', "threads", by_thread_, "a line per thread, instead of per lock");
    flags.boolean('c', "combine-locks", combine_, "one line for all locks of the same name");
    flags.number('E', "entries", most_rows_, "n", "show this many lines (default: all)");
    options_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    LockTableStyle style;
    style.columns = report_columns();
    const LockColumn* key = TRY(choose_lock_key(key_, style.columns));
    if (!fields_.empty()) style.columns = TRY(choose_lock_columns(fields_, style.columns));
    show_lock_key(style.columns, key);
    style.grouping = by_thread_ ? LockGrouping::kThread : LockGrouping::kLock;
    style.most_rows = most_rows_.value_or(UINT64_MAX);
    style.quiet = options_.quiet;
    LockTotals sums = TRY(add_up(options_, style.grouping, env));
    std::vector<LockRow> rows = sums.table.rows();
    if (combine_ && !by_thread_) combine_lock_rows(rows);
    sort_lock_rows(rows, *key);
    style.thread_name = [&](uint32_t tid) { return sums.recording->thread_name(tid); };
    size_t seen = write_lock_report(env.out, rows, style);
    if (!options_.quiet)
      write_broken(env.out, std::span(rows).first(seen), sums.table.broken(),
                   options_.input.verbose > 0);
    return 0;
  }

 private:
  LockOptions options_;
  std::string key_ = "acquired", fields_;
  bool by_thread_ = false, combine_ = false;
  std::optional<uint64_t> most_rows_;
};

class LockInfo final : public Command {
 public:
  explicit LockInfo(LockOptions options) : options_(std::move(options)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(What a recording by `lock record` contains: the threads that waited for locks (-t), or the locks and the places that first waited for them (-m).)");
    flags.boolean('t', "threads", threads_, "list the threads that waited for locks");
    flags.boolean('m', "map", map_, "list the locks, with their addresses and names");
    options_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    if (!threads_ && !map_)
      return fail(ErrorCode::kFailed, "what shall be listed? -t lists threads, -m locks");
    LockTotals sums = TRY(add_up(options_, LockGrouping::kLock, env));
    if (threads_)
      write_lock_threads(env.out, sums.table.threads(),
                         [&](uint32_t tid) { return sums.recording->thread_name(tid); });
    else
      write_lock_map(env.out, sums.table.rows());
    return 0;
  }

 private:
  LockOptions options_;
  bool threads_ = false, map_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lock_report(LockOptions options) {
  return std::make_unique<LockReport>(std::move(options));
}
std::unique_ptr<Command> make_lock_info(LockOptions options) {
  return std::make_unique<LockInfo>(std::move(options));
}

}  // namespace sonde
