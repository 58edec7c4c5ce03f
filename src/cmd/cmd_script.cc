// `script`: every sample as a line of text, in time order.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "cmd/cmd_report_time.h"
#include "cmd/cmd_script_options.h"
#include "cmd/command.h"
#include "cmd/header_text.h"
#include "perfdata/dump.h"
#include "script/stat_lines.h"

namespace sonde {
namespace {

/// `--per-event-dump`: one file per event, named after the input and the event.
Result<> dump_per_event(const Session& session, const SamplePrinter& printer,
                        const std::vector<ScriptItem>& items, const ScriptOptions& options,
                        Env& env) {
  for (size_t event = 0; event < session.events().size(); ++event) {
    std::string path =
        fmt::format("{}.{}.dump", options.input, session.events()[EventId(event)].name);
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.valid())
      return fail(ErrorCode::kIo, "failed to open {}: {}", path, std::strerror(errno));
    std::vector<ScriptItem> own;
    std::ranges::copy_if(items, std::back_inserter(own), [&](const ScriptItem& item) {
      return !item.is_record && session.samples().event[item.index] == event;
    });
    FdSink file(fd.get());
    write_lines(session, printer, own, options.shown_time(), file);
    file.flush();
    struct stat info{};
    if (file.failed() != 0 || ::fstat(fd.get(), &info) != 0)
      return fail(ErrorCode::kIo, "failed to write {}: {}", path, std::strerror(file.failed()));
    env.out.print("[ {} script: Wrote {:.3f} MB {} ({} samples) ]\n", env.tool,
                  static_cast<double>(info.st_size) / 1024 / 1024, path, own.size());
  }
  return {};
}

/// `-D`: behind every sample of the dump its thread, its object and its line.
class DumpWithLines {
 public:
  DumpWithLines(const Session& session, const SamplePrinter& printer,
                const std::vector<ScriptItem>& items)
      : session_(session), printer_(printer) {
    for (const ScriptItem& item : items)
      if (!item.is_record) shown_[session.record(item.index).payload.data()].push_back(item.index);
  }

  void write(const Env& env) {
    DumpTail tail = [this](const TimedRecord& record, const Sample*, Sink& out) {
      auto found = shown_.find(record.record.payload.data());
      if (found == shown_.end()) return;
      for (uint32_t sample : found->second) put(sample, out);
    };
    dump_recording(session_.recording(), {.command = DumpFor::kScript}, tail, env.losses, env.out);
  }

 private:
  void put(uint32_t sample, Sink& out) {
    const SampleColumns& columns = session_.samples();
    DsoId dso = session_.frame(columns.leaf[sample]).dso;
    out.print(" ... thread: {}:{}\n ...... dso: {}\n",
              session_.strings().view(columns.comm[sample]),
              static_cast<int32_t>(columns.tid[sample]),
              dso.valid() ? dso_text(session_, dso, true) : "<not found>");
    std::string line;
    printer_.print(sample, columns.time[sample], line);
    out.write(line);
  }

  const Session& session_;
  const SamplePrinter& printer_;
  tsl::robin_map<const std::byte*, std::vector<uint32_t>> shown_;
};

/// perf wants every kind of event to record its CPU where -C is given.
Result<> check_cpus(const EventTable& events) {
  std::vector<uint32_t> seen;
  for (const EventDesc& event : events.all()) {
    if (std::ranges::find(seen, event.attr.type) != seen.end()) continue;
    seen.push_back(event.attr.type);
    if (!event.attr.samples(abi::kSampleCpu))
      return fail(ErrorCode::kFailed,
                  "File does not contain CPU events. Remove -C option to proceed.");
  }
  return {};
}

class Script final : public Command {
 public:
  void declare(FlagTable& flags) override { declare_script_flags(flags, options_); }

  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(check(arguments, env));
    for (const std::string& warning : options_.warnings) env.err.print("{}\n", warning);
    Session session = TRY(open(env));
    if (options_.header || options_.header_only)
      write_header_text(env.out, session.recording(), options_.full_header);
    if (options_.header_only) return 0;
    if (is_stat_recording(session)) {
      write_stat_lines(session, env.out);
      return 0;
    }
    if (!options_.items.cpus.empty()) TRY(check_cpus(session.events()));
    TRY(write(session, env));
    if (options_.verbose > 0) say_symbol_sources(session, env.err);
    return 0;
  }

 private:
  Result<> check(const Arguments& arguments, Env& env) {
    if (!arguments.empty())
      return fail(ErrorCode::kFailed, "Couldn't find script `{}'", arguments[0]);
    if (options_.relative_time && options_.delta_time)
      return fail(ErrorCode::kFailed,
                  "reltime and deltatime - the two don't get along well. Please limit to --reltime "
                  "or --deltatime.");
    if (options_.inlines)
      env.err.print("--inline: functions that the compiler inlined are not shown yet\n");
    if (options_.input.empty()) {
      struct stat info{};
      bool piped = ::fstat(env.in_fd, &info) == 0 && S_ISFIFO(info.st_mode);
      options_.input = piped ? "-" : "perf.data";
    }
    return {};
  }

  Result<Session> open(Env& env) {
    SessionOptions options;
    options.open.force = options_.force;
    options.open.stdin_fd = env.in_fd;
    options.symbols = options_.symbol_sources;
    options.filter = {options_.pids, options_.tids, options_.items.cpus, {}};
    options.want_chains = !options_.hide_call_graph && !options_.header_only;
    options.want_symbols = !options_.header_only;
    return Session::open(options_.input, options, env);
  }

  Result<> write(Session& session, Env& env) {
    PrinterOptions printing{options_.fields,           options_.nanoseconds,
                            !options_.hide_call_graph, options_.show_kernel_path,
                            options_.latency_format,   options_.max_stack,
                            options_.stop_backtrace_at};
    SamplePrinter printer = TRY(SamplePrinter::make(session, printing));
    if (printer.needs_all_symbols()) session.load_all_symbols();
    ItemFilter filter = options_.items;
    const auto& recorded = session.recording().features().sample_time;
    filter.times = TRY(parse_time_ranges(
        options_.time, recorded ? recorded->first_ns : session.counts().first_time_ns,
        recorded ? recorded->last_ns : session.counts().last_time_ns));
    std::vector<ScriptItem> items = choose_items(session, printer, filter);
    if (options_.dump)
      DumpWithLines(session, printer, items).write(env);
    else if (options_.per_event_dump)
      return dump_per_event(session, printer, items, options_, env);
    else
      write_lines(session, printer, items, options_.shown_time(), env.out);
    return {};
  }

  static void say_symbol_sources(const Session& session, Sink& err) {
    std::vector<char> said(session.machine().dsos().size());
    for (const Frame& frame : session.frames()) {
      if (!frame.dso.valid() || std::exchange(said[frame.dso.index()], 1) != 0) continue;
      err.print("symbols of {}: {}\n", session.machine().dsos()[frame.dso].path,
                session.symbolizer().source_of(frame.dso));
    }
  }

  ScriptOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_script() {
  return std::make_unique<Script>();
}

}  // namespace sonde
