// `trace`: system calls and other events, live or from a recording.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files/regular_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/run_record.h"
#include "cmd/trace/flags.h"
#include "perfdata/read/recording.h"
#include "trace/session/live.h"
#include "trace/session/selected_events.h"
#include "trace/session/view.h"
#include "trace/sources/file_source.h"
#include "trace/sources/task_fds.h"

namespace sonde {
namespace {

/// Whether a file is empty or begins as one that trace wrote: with a call or an event, or with a
/// summary. Not if it is a link.
bool is_trace(const std::string& path) {
  Result<Fd> file = open_regular(path, LastLink::kRefuse);
  std::array<char, 4096> start{};
  ssize_t got = file ? ::read(file->get(), start.data(), start.size()) : -1;
  if (got <= 0) return got == 0;
  std::string_view text = trim(std::string_view(start.data(), static_cast<size_t>(got)));
  std::string_view line = text.substr(0, text.find('\n'));
  size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  bool has_time = digits > 0 && line.substr(digits).starts_with('.');
  return line.starts_with("Summary of events") || line.contains("): ") || line.contains(") = ") ||
         (has_time && line.contains(' '));
}

/// Where lines go: to -o, or to standard error, which leaves standard output to the command.
class TraceOutput {
 public:
  static Result<TraceOutput> open(const std::string& path, Env& env) {
    TraceOutput output;
    output.sink_ = &env.err;
    if (path.empty()) return output;
    TRY(keep_old(path));
    output.file_ = TRY(OutputFile::open(path, env));
    output.sink_ = &output.file_->sink();
    return output;
  }
  [[nodiscard]] Sink& sink() { return *sink_; }
  Result<> finish() { return file_ ? file_->finish() : Result<>{}; }

 private:
  /// An existing file is renamed to FILE.old, as with recordings, which only an earlier trace may
  /// be replaced by.
  static Result<> keep_old(const std::string& path) {
    struct stat info{};
    bool is_full_file =
        ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
    bool is_descriptor = (path.starts_with("/dev/") || path.starts_with("/proc/")) &&
                         ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
    if (!is_full_file || is_descriptor) return {};
    std::string old = path + ".old";
    for (const std::string& file : {path, old})
      if (::lstat(file.c_str(), &info) == 0 && !is_trace(file))
        return fail(ErrorCode::kFailed,
                    "{}: what is there is no output of trace, and is left alone: move it, or name "
                    "another output with -o",
                    file);
    if (std::rename(path.c_str(), old.c_str()) != 0)
      return fail(ErrorCode::kIo, "failed to rename {} to {}: {}", path, old, std::strerror(errno));
    return {};
  }
  std::optional<OutputFile> file_;
  Sink* sink_ = nullptr;
};

class Trace final : public Command {
 public:
  Result<> configure(const Config& config) override { return flags_.configure(config); }

  void declare(FlagTable& flags) override {
    flags_.declare(flags);
    flags.description(
        R"(Shows the system calls of a command, of processes, threads, a user, a cgroup, some CPUs or the whole machine as they happen, with their arguments, results and durations, and other events between them: tracepoints, probes, page faults.

A line is printed when the call returns; if another thread's output comes in between, the line is cut off ("...") and continued later. Times are in milliseconds since the first event. Only what is asked for is traced: -e chooses calls by name, glob (open*) and group (file, %net), and the kernel filters out the rest.

`trace record` writes a recording of all calls; `trace -i` shows it. Run under the name trace, this program acts as `trace`.)");
    flags.section("EXAMPLES", R"(  sonde trace ls
  sonde trace -e %file,connect -- curl -s http://localhost/
  sonde trace -s -p 1234
  sonde trace -e open*,close,sched:*switch sleep 1
  sonde trace --failure --duration 1 -a
  sonde trace -F all --no-syscalls ls
  sonde trace record -a sleep 1 && sonde trace -i perf.data)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    bool records = !arguments.empty() && !arguments.after_dashes && arguments[0] == "record";
    TraceOptions options =
        TRY(flags_.finalize(env, records ? std::vector<std::string>{} : arguments.words));
    if (records) return record(options, arguments, env);
    TraceOutput output = TRY(TraceOutput::open(options.output, env));
    Result<int> status = options.input.empty() ? trace_live(options, output.sink(), env)
                                               : replay(options, output.sink(), env);
    TRY(output.finish());
    return status;
  }

 private:
  static Result<int> replay(const TraceOptions& options, Sink& out, Env& env) {
    Recording recording = TRY(Recording::open(
        options.input, {.force = options.force, .stdin_fd = env.in_fd}, env.losses));
    std::unique_ptr<FileSource> source = TRY(FileSource::open(recording, env.losses));
    if (options.wants_calls && !source->has_calls() && source->events().empty())
      return fail(ErrorCode::kFailed, "{}: it has no events", options.input);
    TracedTasks tasks({}, options.summary);
    TaskFds fds(tasks, nullptr);
    const Features& features = recording.features();
    BtfText types = TRY(types_of_recording(options, features.os_release.value_or("")));
    CallTexts texts(options.style, &fds, std::move(types));
    // Nothing says which calls were recorded, and of which threads.
    texts.set_sees_all(false);
    std::unique_ptr<TraceLocations> places =
        make_places(options, source->events(), features.os_release.value_or(""),
                    features.arch.value_or(""), features.hostname.value_or(""), env);
    TraceViewOptions view_options_of = TRY(view_options(options, source->events(), env));
    TRY(choose_tasks(options, view_options_of));
    if (options.chooses) view_options_of.hidden_events = hidden_events(options, source->events());
    TraceView view(std::move(view_options_of), source->events(), texts, tasks, places.get(), out);
    while (!source->at_end() && !view.is_done()) {
      TRY(source->refill(false));
      while (const TraceItem* item = view.is_done() ? nullptr : source->front()) {
        view.consume(*item);
        source->pop();
      }
    }
    view.finish({});
    if (options.tool_stats) write_tool_stats(texts.descriptor_counts(), out);
    if (view.lost() > 0) env.losses.add(LossKind::k_lost_by_kernel, view.lost());
    return 0;
  }

  /// If -e was given, only those of a recording's other events that it names are shown.
  static std::vector<char> hidden_events(const TraceOptions& options,
                                         const std::vector<TracedEvent>& events) {
    std::vector<char> hidden;
    for (const TracedEvent& event : events) {
      bool shown = std::ranges::any_of(options.recorded_events, [&](const std::string& pattern) {
        return glob_match(pattern, event.name);
      });
      hidden.push_back(shown ? 0 : 1);
    }
    return hidden;
  }

  /// Applies -p, -t and -C to a recording.
  static Result<> choose_tasks(const TraceOptions& options, TraceViewOptions& view) {
    const TargetOptions& target = options.record.target;
    auto numbers = [](const std::string& list, std::vector<uint32_t>& into) -> Result<> {
      return list.empty() ? Result<>{} : numbers_into(into)(list);
    };
    TRY(numbers(target.pids, view.pids));
    TRY(numbers(target.tids, view.tids));
    TRY(numbers(target.cpus, view.cpus));
    if (!target.user.empty() || !options.cgroup_of_all.empty())
      return fail(ErrorCode::kUsage,
                  "-i {}: a recording does not hold the user or cgroup of its threads",
                  options.input);
    return {};
  }

  /// `trace record`: the two system call tracepoints and whatever else was asked for, followed by
  /// the recorder's own options.
  static Result<int> record(const TraceOptions& options, const Arguments& arguments, Env& env) {
    std::vector<std::string> words = {"-R", "-m", "1024", "-c", "1"};
    if (options.wants_calls) {
      words.insert(words.end(), {"-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit"});
      if (std::string filter = call_filter(options.calls, SyscallAbi::kX86_64); !filter.empty())
        words.insert(words.end(), {"--filter", filter});
    }
    if (options.faults == FaultKinds::kMajor || options.faults == FaultKinds::kAll)
      words.insert(words.end(), {"-e", "major-faults"});
    if (options.faults == FaultKinds::kMinor || options.faults == FaultKinds::kAll)
      words.insert(words.end(), {"-e", "minor-faults"});
    if (options.faults != FaultKinds::kNone) words.emplace_back("-d");
    if (options.runtime) words.insert(words.end(), {"-e", "sched:sched_stat_runtime"});
    for (const ParsedEvent& event : options.record.events.events()) {
      words.insert(words.end(), {"-e", event.name});
      if (!event.filter.empty()) words.insert(words.end(), {"--filter", event.filter});
    }
    words.insert(words.end(), arguments.words.begin() + 1, arguments.words.end());
    return run_record(words, "trace record", env);
  }

  TraceFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_trace() {
  return std::make_unique<Trace>();
}

}  // namespace sonde
