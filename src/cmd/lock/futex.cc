// lock contention --futex: programs waiting for their own locks.
#include "base/output_file.h"
#include "capture/control/temporary_directory.h"
#include "cli/flag_parser.h"
#include "cmd/lock/contention.h"
#include "lock/futex_stats.h"
#include "replay/session.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

std::string_view kind_name_of(uint32_t kind) {
  return futex_kind_name(static_cast<FutexKind>(kind));
}

Result<> check(const ContentionOptions& options) {
  constexpr uint32_t kDefaultSkip = 3;
  if (options.stack_skip != kDefaultSkip)
    return fail(ErrorCode::kUsage,
                "Error: --stack-skip applies to kernel call chains; with --futex, function names "
                "show who wanted the lock");
  if (!options.cpus.empty())
    return fail(ErrorCode::kUsage, "Error: --futex excludes -C: waiting threads are on no CPU");
  return {};
}

Result<FutexStats::Options> stats_options(const ContentionOptions& options,
                                          const LockTableStyle& style) {
  FutexStats::Options wanted{.grouping = style.grouping,
                             .locks = options.locks,
                             .functions = options.functions,
                             .max_stack = options.max_stack,
                             .keep_stacks = style.stacks};
  for (const std::string& names : options.types) TRY(wanted.kinds.add(names));
  return wanted;
}

void say_apart(const FutexStats& stats, uint64_t unfinished, Env& env) {
  auto ms = [](uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  if (stats.timed_out().count > 0)
    env.err.print(
        "{} waits of {:.3f} ms in all, which ended as their time was over, are in no row\n",
        stats.timed_out().count, ms(stats.timed_out().total_ns));
  if (stats.lasting().count > 0)
    env.err.print("{} waits of {:.3f} ms in all went on at the end; their rows have them\n",
                  stats.lasting().count, ms(stats.lasting().total_ns));
  if (unfinished > 0)
    env.err.print("{} waits whose end was not recorded are in no row\n", unfinished);
}

Result<int> show(const RecordingInput& input, const ContentionOptions& options,
                 LockTableStyle style, const LockColumn& key, Env& env) {
  FutexStats::Options how = TRY(stats_options(options, style));
  SessionOptions wanted;
  wanted.symbols = options.lock.symbols;
  Session session = TRY(input.open_session(std::move(wanted), env));
  FutexPipeline pipeline(session);
  if (!pipeline.has_waits())
    return fail(ErrorCode::kFailed,
                "{}: no events of futexes (syscalls:sys_enter_futex, futex-wait); '{} lock record "
                "--futex' makes such a recording",
                input.chosen_path(env), env.tool);
  FutexStats stats(std::move(how), session);
  pipeline.run([&](const FutexWait& wait) { stats.consume(wait); });
  std::vector<LockRow> rows = stats.rows();
  sort_lock_rows(rows, key);
  style.type_name = kind_name_of;
  OutputFile output = TRY(OutputFile::open(options.output, env));
  write_contention(output.sink(), rows, style);
  TRY(output.finish());
  if (!options.lock.quiet) say_apart(stats, pipeline.unfinished(), env);
  return 0;
}

/// `record --futex` for the same threads.
std::vector<std::string> record_words(const ContentionOptions& options, const std::string& path,
                                      const std::vector<std::string>& command) {
  std::vector<std::string> words = {"-q", "-N", "-B", "-o", path, "-e", "dummy:u"};
  words.push_back(fmt::format("--futex={}", options.most_sums));
  bool is_of_all =
      options.all_cpus || (command.empty() && options.pids.empty() && options.tids.empty());
  if (is_of_all) words.emplace_back("-a");
  if (!options.pids.empty()) words.insert(words.end(), {"-p", options.pids});
  if (!options.tids.empty()) words.insert(words.end(), {"-t", options.tids});
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Result<int> record(const std::vector<std::string>& words, Env& env) {
  std::unique_ptr<Command> recorder = make_record();
  FlagTable flags;
  recorder->declare(flags);
  ParseOutcome outcome = parse_flags(flags, words);
  if (auto* bad = std::get_if<BadFlags>(&outcome))
    return std::unexpected(Error{ErrorCode::kFailed, bad->message});
  if (auto* error = std::get_if<Error>(&outcome)) return std::unexpected(*error);
  return recorder->run(env, std::get<Arguments>(outcome));
}

}  // namespace

Result<int> show_futexes(const ContentionOptions& options, LockTableStyle style,
                         const LockColumn& key, Env& env) {
  TRY(check(options));
  TRY(options.lock.input.dump_first(env));
  return show(options.lock.input, options, std::move(style), key, env);
}

Result<int> measure_futexes(const ContentionOptions& options, const LockTableStyle& style,
                            const LockColumn& key, const std::vector<std::string>& command,
                            Env& env) {
  TRY(check(options));
  TRY(stats_options(options, style));
  constexpr int kInterrupted = 128 + 2;
  TemporaryDirectory directory = TRY(TemporaryDirectory::make(env));
  std::string path = directory.path() + "/perf.data";
  int status = TRY(record(record_words(options, path, command), env));
  TRY(show({.path = path}, options, style, key, env));
  return command.empty() && status == kInterrupted ? 0 : status;
}

}  // namespace sonde
