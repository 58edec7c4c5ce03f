#include "python/run_script.h"

#include <sys/stat.h>

#include "perfdata/read/file_scan.h"
#include "python/interrupt.h"
#include "python/session_run.h"
#include "python/tracepoint_run.h"
#include "script/recording_lines.h"

namespace sonde {
namespace {

using namespace python;

class PythonRun {
 public:
  PythonRun(const PythonScript& script, const ScriptOptions& options, Env& env)
      : script_(script), options_(options), env_(env) {}

  Result<int> run() {
    // A recording that cannot be read is reported before the script does anything.
    struct stat info{};
    bool is_file = ::stat(options_.input.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    LossLedger counted_already;  // damage outside the records must be counted only once
    std::optional<FileScan> names;
    if (is_file) names.emplace(TRY(FileScan::open(options_.input, how(), counted_already)));
    std::optional<Session> session;
    if (!is_file) session.emplace(TRY(open(true)));

    env_.out.flush();
    Interpreter interpreter =
        TRY(Interpreter::start({script_.path, script_.arguments, script_.exec_path, env_.config}));
    Interrupt interrupt;
    Result<> done = handle(interpreter, names, session);
    if (done) done = interpreter.flush();
    if (interpreter.exit_status()) return *interpreter.exit_status();
    if (done) return 0;
    env_.err.print("{} script: {}\n", env_.tool, done.error().message);
    return 1;
  }

 private:
  Result<> handle(Interpreter& interpreter, std::optional<FileScan>& names,
                  std::optional<Session>& session) {
    ScriptContext context;
    PyRef object = context_object(context);
    TRY(interpreter.run_file(object));
    ScriptEvents events(interpreter, context);
    TRY(events.begin());
    std::unique_ptr<FilterRun> dlfilter = TRY(FilterRun::start(options_, env_));
    if (names && only_fields(events, object, *names)) {
      context.order = names->facts().order;
      FileScan samples = TRY(FileScan::open(options_.input, how(), env_.losses));
      TRY(run_tracepoints(events, object, *names, samples, env_.losses));
    } else {
      names.reset();
      if (!session) session.emplace(TRY(open(!events.wants_records())));
      TRY(run_session(events, object, *session, options_, dlfilter.get(), env_));
    }
    if (dlfilter) TRY(dlfilter->stop());
    return events.end();
  }

  /// Whether handlers get nothing but the fields of tracepoints.
  bool only_fields(ScriptEvents& events, const PyRef& context, const FileScan& scan) {
    const Features& features = scan.features();
    if (!options_.shows_samples_as_they_are() || events.wants_records() ||
        features.has(abi::kFeatureStat) || features.compressed ||
        !is_of_tracepoints(scan.events()) || events.interpreter().asks_for_places())
      return false;
    StringPool strings;
    TracepointCalls calls(events.interpreter(), events.context(), context, strings);
    calls.prepare(scan.events(), features);
    bool has_chains = false;
    for (const EventDesc& event : scan.events().all())
      has_chains |= event.attr.samples(abi::kSampleCallchain);
    return !calls.want_sample_dict() && !(has_chains && calls.want_chains());
  }

  [[nodiscard]] OpenOptions how() const {
    return {.force = options_.force, .stdin_fd = env_.in_fd};
  }

  Result<Session> open(bool in_batches) {
    SessionOptions session;
    session.open = how();
    if (in_batches || options_.input == "-") session.rows = SamplesInTurn();
    session.symbols = options_.symbol_sources;
    if (options_.dlfilter.empty())  // which may be called for samples before these options decide
      session.filter = {options_.pids, options_.tids, options_.items.cpus, {}};
    session.chains.reset();
    if (!options_.hide_call_graph)
      session.chains = {.max_stack = options_.max_stack,
                        .merge_deferred = options_.items.records.merge_chains};
    return Session::open(options_.input, session, env_);
  }

  const PythonScript& script_;
  const ScriptOptions& options_;
  Env& env_;
};

}  // namespace

Result<int> run_python_script(const PythonScript& script, const ScriptOptions& options, Env& env) {
  return PythonRun(script, options, env).run();
}

}  // namespace sonde
