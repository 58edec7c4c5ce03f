// `script`: every sample as a line of text, in time order.
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "capture/control/signal_queue.h"
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "cmd/script/flags.h"
#include "perfdata/read/file_scan.h"
#include "python/script_request.h"
#include "script/recording_lines.h"
#include "script/tracepoint_lines.h"

namespace sonde {
namespace {

/// Waits until a pipe that is still being written has more, or the user ends it. Ctrl-C ends the
/// recorder too: its last output is still read, for a moment.
class PipeWatch {
 public:
  static Result<PipeWatch> create(const Env& env) {
    return PipeWatch(TRY(SignalQueue::create()), env);
  }

  /// Waits for input. False if the pipe should not be read any further.
  bool wait() {
    env_.out.flush();
    while (env_.out.failed() == 0 && goes_on()) {
      // Errors and hang-ups of the output are reported even if no events are requested.
      pollfd waited[] = {{env_.in_fd, POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {env_.out_fd, 0, 0}};
      int ready = ::poll(waited, std::size(waited), last_moment_ ? kStep_ms : -1);
      if (ready < 0 && errno != EINTR) return false;
      if ((waited[2].revents & (POLLERR | POLLHUP)) != 0) return false;
      if (waited[0].revents != 0) return true;
    }
    return false;
  }

  /// False after SIGTERM, after a second Ctrl-C, or some time after the first.
  bool goes_on() {
    while (auto number = signals_.next()) {
      if (*number != SIGINT && *number != SIGTERM) continue;
      if (*number == SIGTERM || last_moment_) return false;
      last_moment_ = Clock::now() + kLastWords;
    }
    return !last_moment_ || Clock::now() < *last_moment_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLastWords{2};
  static constexpr int kStep_ms = 100;

  PipeWatch(SignalQueue signals, const Env& env) : signals_(std::move(signals)), env_(env) {}

  SignalQueue signals_;
  const Env& env_;
  std::optional<Clock::time_point> last_moment_;
};

class Script final : public Command {
 public:
  void declare(FlagTable& flags) override { declare_script_flags(flags, options_); }

  [[nodiscard]] bool paged() const override { return !starts_programs_; }
  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    starts_programs_ = options_.script.empty() && !arguments.empty();
    return nullptr;
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    bool input_given = !options_.input.empty();
    TRY(check(env));
    for (const std::string& warning : options_.warnings) env.err.write_lines(warning + "\n");
    if (options_.list_dlfilters) {
      print_filters(env, options_.verbose > 0);
      return 0;
    }
    if (asks_for_scripts(options_, arguments.words))
      return run_script_request(options_, arguments.words, input_given, env);
    if (options_.shows_samples_as_they_are() && TRY(stream(env))) return 0;
    std::unique_ptr<FilterRun> dlfilter = TRY(FilterRun::start(options_, env));
    Session session = TRY(open(dlfilter.get(), env));
    if (options_.checks_order) {
      env.err.print("Misordered timestamps: {}\n", env.losses.count(LossKind::k_out_of_order));
      return 0;
    }
    ScriptLines lines(session, options_, dlfilter.get(), env);
    if (session.follows())
      TRY(follow(session, lines, env));
    else if (session.in_batches())
      TRY(session.follow({[&] { return lines.write(); }, {}}));
    else
      TRY(lines.write());
    if (dlfilter) TRY(dlfilter->stop());
    if (options_.verbose > 0) report_symbol_sources(session, env.err);
    return 0;
  }

 private:
  Result<> check(Env& env) {
    if (options_.disassembles && !options_.fields.show_instructions_as_text())
      return fail(ErrorCode::kFailed,
                  "--xed: no instructions are shown; add --insn-trace or -F +insn");
    if (options_.relative_time && options_.delta_time)
      return fail(ErrorCode::kFailed,
                  "--reltime is the time since the start, --deltatime since the line before: give "
                  "one of them");
    if (options_.dlfilter.empty() && !options_.dlfilter_arguments.empty())
      return fail(ErrorCode::kFailed, "--dlarg: there is no filter to give it to: add --dlfilter");
    if (options_.input.empty()) options_.input = default_recording(env.in_fd);
    return {};
  }

  Result<Session> open(const FilterRun* dlfilter, Env& env) {
    SessionOptions options;
    options.itrace = options_.itrace;
    if (options_.dump || options_.header_only)
      options.itrace.reset();
    else if (!options.itrace)
      options.itrace = TRY(parse_itrace("", ItraceDefaults::kScript));
    if (options.itrace)
      options.itrace->counts_cycles = options_.fields.has(Field::kInstructionsPerCycle);
    bool in_turn = options_.input == "-" ? options_.can_follow() : options_.can_batch();
    if (in_turn) options.rows = SamplesInTurn();
    options.narrow = [this](const EventTable& events, const Features& features,
                            SessionOptions& narrowed) {
      narrow_to_lines(options_, events, features, narrowed);
    };
    options.symbols = options_.symbol_sources;
    tell_of_nameless(options.symbols, env);
    if (dlfilter == nullptr || !dlfilter->sees_all())
      options.filter = {options_.pids, options_.tids, options_.items.cpus, {}};
    options.chains.reset();
    if (!options_.hide_call_graph && !options_.header_only)
      options.chains = {.merge_deferred = options_.items.records.merge_chains,
                        .stitch_calls = options_.stitch_lbr};
    options.want_symbols = !options_.header_only;
    options.inlines = chosen_inlines(options_.inlines);
    return RecordingInput{.path = options_.input, .force = options_.force}.open_session(
        std::move(options), env);
  }

  /// False if lines need more than the samples themselves.
  Result<bool> stream(Env& env) {
    struct stat info{};
    if (::stat(options_.input.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    OpenOptions how{.force = options_.force, .stdin_fd = env.in_fd};
    // Damage outside the records must be counted only once.
    LossLedger counted_already;
    Result<FileScan> names = FileScan::open(options_.input, how, counted_already);
    if (!names) return false;  // a Session reports why
    const Features& features = names->features();
    if (features.has(abi::kFeatureStat) || features.has(abi::kFeatureAuxtrace) ||
        features.compressed)
      return false;
    auto fields = options_.fields.fields_for(names->events(), !options_.hide_call_graph,
                                             features.clock_data.has_value());
    if (!fields || !is_of_plain_tracepoints(*names, *fields)) return false;
    FileScan samples = TRY(FileScan::open(options_.input, how, env.losses));
    write_tracepoint_lines(*names, samples, env.losses, env.out);
    return true;
  }

  static Result<> follow(Session& session, ScriptLines& lines, Env& env) {
    PipeWatch watch = TRY(PipeWatch::create(env));
    auto write = [&]() -> Result<bool> { return TRY(lines.write()) && watch.goes_on(); };
    return session.follow({write, [&] { return watch.wait(); }});
  }

  static void report_symbol_sources(const Session& session, Sink& err) {
    std::vector<char> said(session.machine().dsos().size());
    for (const Frame& frame : session.frames()) {
      if (!frame.dso.valid() || std::exchange(said[frame.dso.index()], 1) != 0) continue;
      err.print("symbols of {}: {}\n", session.machine().dsos()[frame.dso].path,
                session.symbolizer().source_of(frame.dso));
    }
  }

  ScriptOptions options_;
  bool starts_programs_ = false;  // `record NAME` …, which have the terminal to themselves
};

}  // namespace

std::unique_ptr<Command> make_script() {
  return std::make_unique<Script>();
}

}  // namespace sonde
