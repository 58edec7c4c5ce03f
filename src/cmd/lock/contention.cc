// lock contention: who waited for locks, and for how long.
#include "cmd/lock/contention.h"
#include "base/output_file.h"
#include "base/printing/csv.h"
#include "base/text.h"
#include "cli/refused_options.h"
#include "cmd/options/profile_flags.h"
#include "lock/contention_stats.h"
#include "lock/lock_recording.h"

namespace sonde {

constexpr RefusedOption kDelays[] = {
    {'J', "inject-delay", "time@function", "refused: locks are measured here, not slowed down",
     "the locks of a running kernel are measured here, not slowed down"},
};

void ContentionOptions::declare(FlagTable& flags) {
  flags.text(
      'k', "key", key, "wait_total",
      "column to sort by: contended, wait_total (the default), wait_max, wait_min, avg_wait");
  flags.text('F', "field", fields, "contended,wait_total,wait_max,avg_wait",
             "columns to show, of contended, wait_total, wait_max, wait_min, avg_wait");
  flags.boolean('t', "threads", by_thread, "a line per thread that waited");
  flags.boolean('l', "lock-addr", by_lock, "a line per lock, by its address");
  flags.number('E', "entries", most_rows, "n", "show this many lines (default: all)");
  flags.number(0, "max-stack", max_stack, "n", "functions of a call chain to look at (8)");
  flags.number(0, "stack-skip", stack_skip, "n",
               "innermost functions of a call chain that are no callers (3)");
  flags.call('Y', "type-filter", "type[,type...]",
             "only locks of these types, such as mutex, spinlock or rwsem:R",
             [this](std::string_view names) -> Result<> {
               types.emplace_back(names);
               return {};
             });
  flags.call('L', "lock-filter", "address[,name...]",
             "only the locks at these addresses, or with the names of these variables",
             [this](std::string_view list) -> Result<> {
               for (std::string_view word : split(list, ',')) locks.emplace_back(word);
               return {};
             });
  flags.call('S', "callstack-filter", "name[,name...]",
             "only waits with one of these in the name of a function of the call chain",
             [this](std::string_view list) -> Result<> {
               for (std::string_view word : split(list, ','))
                 if (!word.empty()) functions.emplace_back(word);
               return {};
             });
  flags.text('x', "field-separator", separator, "separator",
             "print values with this between them, instead of a table; times in nanoseconds");
  flags.text(0, "output", output, "file", "file to write, instead of standard output");
  flags.boolean(0, "futex", futex,
                "waits of programs, in futex(2), instead of those for the kernel's locks");
  flags.boolean('b', "use-bpf", use_bpf,
                "measure now, in the kernel, instead of reading a recording");
  flags.boolean('a', "all-cpus", all_cpus,
                "with -b: waits of all threads, though there is a command");
  flags.call('C', "cpu", "cpu", "with -b: only waits that begin on these CPUs", numbers_into(cpus));
  flags.text('p', "pid", pids, "pid", "with -b: waits of these processes, separated by commas");
  flags.text(0, "tid", tids, "tid",
             "with -b: waits of these threads, separated by commas; not with -p");
  flags.number(0, "map-nr-entries", most_sums, "num",
               "with -b: lines and call chains that the kernel has room for (10240)");
  flags.boolean('o', "lock-owner", by_owner,
                "with -b or --futex: a line per thread that held locks others waited for");
  flags.boolean('g', "lock-cgroup", by_cgroup, "with -b: a line per cgroup whose threads waited");
  flags.call('G', "cgroup-filter", "cgroup[,cgroup...]",
             "with -b: only waits of threads in these cgroups, not in those below them",
             [this](std::string_view list) -> Result<> {
               for (std::string_view name : split(list, ','))
                 if (!name.empty()) cgroups.emplace_back(name);
               return {};
             });
  declare_refused(flags, kDelays);
  lock.declare(flags);
}

Result<LockTypeFilter> ContentionOptions::type_filter() const {
  LockTypeFilter filter;
  for (const std::string& names : types) TRY(filter.add(names));
  return filter;
}

Result<LockTableStyle> ContentionOptions::style() const {
  LockTableStyle style;
  LockColumns known = contention_columns();
  style.columns = TRY(choose_lock_columns(fields, known));
  style.grouping = by_cgroup   ? LockGrouping::kCgroup
                   : by_owner  ? LockGrouping::kOwner
                   : by_thread ? LockGrouping::kThread
                   : by_lock   ? LockGrouping::kLock
                               : LockGrouping::kCaller;
  style.most_rows = most_rows.value_or(UINT64_MAX);
  style.quiet = lock.quiet;
  style.separator = separator;
  style.stacks = lock.input.verbose > 0 && style.grouping == LockGrouping::kCaller;
  return style;
}

namespace {

class LockContention final : public Command {
 public:
  explicit LockContention(LockOptions options) { options_.lock = std::move(options); }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.usage("-b [<options>] [<command>]");
    flags.stop_at_first_word();
    flags.description(
        R"(A line per place in the kernel that waited for locks: how often, and for how long; with -t per thread, with -l per lock. The place is the innermost function that belongs to neither the lock nor the scheduler; -v shows the call chain below it.

With -b the kernel itself adds up the waits while a command runs, or until interrupted: those of the command, of -p or --tid, or of the whole machine (-a). -o then shows who held locks of the types mutex and rwsem, -g in which cgroups threads waited.

With --futex the waits are those of programs for their own locks and conditions, which sleep in futex(2): from recordings by `lock record --futex` or, with -b, measured now. The type shows what was waited for, as far as functions in the call chain reveal it: mutex, rwlock, sem, cond …

-x prints separated values, in nanoseconds.)");
    options_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(check(arguments));
    LockTableStyle style = TRY(options_.style());
    style.quotes_formulas = TRY(quotes_formulas(env));
    const LockColumn* key = TRY(choose_lock_key(options_.key, contention_columns()));
    show_lock_key(style.columns, key);
    if (options_.futex)
      return options_.use_bpf ? measure_futexes(options_, style, *key, arguments.words, env)
                              : show_futexes(options_, std::move(style), *key, env);
    LockTypeFilter types = TRY(options_.type_filter());
    if (options_.use_bpf)
      return measure_contention(options_, std::move(style), *key, arguments.words, env);
    TRY(options_.lock.input.dump_first(env));
    auto recording = TRY(LockRecording::open(options_.lock.input.chosen_path(env),
                                             options_.lock.input.open_options(env),
                                             options_.lock.symbols, options_.max_stack, env));
    const LockPipeline& pipeline = recording->pipeline();
    if (!pipeline.has(LockEventKind::kContentionBegin))
      return fail(ErrorCode::kFailed,
                  "lock contention evsel not found: {} has no lock:contention_begin; '{} lock "
                  "record' makes such a recording (waits of programs are shown by --futex)",
                  options_.lock.input.chosen_path(env), env.tool);
    LockNames names(std::string(recording->kernel().symbol_source()));
    LockCallers callers(pipeline, recording->functions(), recording->kernel(),
                        {options_.stack_skip, options_.functions});
    LockRowTable table;
    ContentionStats stats({.grouping = style.grouping,
                           .types = std::move(types),
                           .locks = TRY(names.addresses(options_.locks)),
                           .keep_stacks = style.stacks},
                          pipeline, callers, table);
    recording->run([&](std::span<const LockEvent> events) {
      for (const LockEvent& event : events) stats.consume(event);
    });
    std::vector<LockRow> rows = table.rows();
    sort_lock_rows(rows, *key);
    style.thread_name = [&](uint32_t tid) { return recording->thread_name(tid); };
    style.lock_name = [&](uint64_t address) { return names.name(address); };
    style.address_name = [&](uint64_t address) {
      return recording->kernel().kernel_symbol(address) ? recording->kernel().kernel_label(address)
                                                        : std::string();
    };
    OutputFile output = TRY(OutputFile::open(options_.output, env));
    size_t seen = write_contention(output.sink(), rows, style);
    if (!options_.lock.quiet)
      write_broken(output.sink(), std::span(rows).first(seen), table.broken(),
                   options_.lock.input.verbose > 0, options_.separator);
    TRY(output.finish());
    return 0;
  }

 private:
  Result<> check(const Arguments& arguments) const {
    bool has_cgroups = options_.by_cgroup || !options_.cgroups.empty();
    if ((options_.by_owner || options_.by_cgroup) + options_.by_thread + options_.by_lock > 1 ||
        (options_.by_owner && options_.by_cgroup))
      return fail(ErrorCode::kUsage,
                  "Error: -g, -o, -t and -l are different tables: give one of them");
    if (has_cgroups && (!options_.use_bpf || options_.futex))
      return fail(
          ErrorCode::kUsage,
          "Error: -g and -G apply only to waits for kernel locks that are measured now (-b)");
    if (options_.use_bpf && options_.lock.input.dump)
      return fail(ErrorCode::kUsage, "Error: -D dumps a recording; -b measures without one");
    if (options_.use_bpf) return {};
    if (!arguments.empty())
      return fail(ErrorCode::kUsage,
                  "Error: only -b measures a command ('{}'); a recording takes none", arguments[0]);
    if (options_.by_owner && !options_.futex)
      return fail(ErrorCode::kUsage, "Error: -o needs -b: events do not show who holds a lock");
    if (options_.all_cpus || !options_.cpus.empty() || !options_.pids.empty() ||
        !options_.tids.empty())
      return fail(ErrorCode::kUsage, "Error: -a, -C, -p and --tid need -b, which measures now");
    return {};
  }

  ContentionOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_lock_contention(LockOptions options) {
  return std::make_unique<LockContention>(std::move(options));
}

}  // namespace sonde
