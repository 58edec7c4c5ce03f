// `script`: every sample as a line of text, in time order.
#include <oneapi/tbb/parallel_pipeline.h>

#include <fcntl.h>

#include <algorithm>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "cmd/command.h"
#include "replay/session.h"
#include "script/sample_printer.h"

namespace sonde {
namespace {

struct ScriptOptions {
  std::string input = "perf.data";
  bool force = false;
  FieldChoice fields;
  std::vector<std::string> warnings;
  bool nanoseconds = false;
  bool hide_call_graph = false;
  uint32_t max_stack = 127;
  bool relative_time = false;
  bool delta_time = false;
  bool show_kernel_path = false;
  bool per_event_dump = false;
  std::vector<std::string> comms, symbols, dsos, stop_backtrace_at;
  std::vector<uint32_t> pids, tids, cpus;
  SymbolOptions symbol_sources;
};

/// Samples to print, in time order, after the filters that need symbols.
class Selection {
 public:
  Selection(const Session& session, const ScriptOptions& options)
      : session_(session), options_(options) {}

  [[nodiscard]] std::vector<uint32_t> samples() const {
    std::vector<uint32_t> order = session_.time_order();
    if (options_.comms.empty() && options_.symbols.empty() && options_.dsos.empty()) return order;
    std::erase_if(order, [this](uint32_t i) { return !wanted(i); });
    return order;
  }

 private:
  [[nodiscard]] bool wanted(uint32_t i) const {
    const SampleColumns& columns = session_.samples();
    auto listed = [](const std::vector<std::string>& list, std::string_view name) {
      return list.empty() || std::ranges::find(list, name) != list.end();
    };
    if (!listed(options_.comms, session_.strings().view(columns.comm[i]))) return false;
    const Frame& leaf = session_.frame(columns.leaf[i]);
    if (!options_.symbols.empty() &&
        (!leaf.symbol.valid() ||
         !listed(options_.symbols, session_.symbolizer().name(leaf.symbol))))
      return false;
    if (options_.dsos.empty()) return true;
    if (!leaf.dso.valid()) return false;
    const Dso& dso = session_.machine().dsos()[leaf.dso];
    return listed(options_.dsos, dso.path) || listed(options_.dsos, dso.short_name);
  }

  const Session& session_;
  const ScriptOptions& options_;
};

/// Formats in parallel, writes in order.
void print_all(const Session& session, const SamplePrinter& printer,
               const std::vector<uint32_t>& order, const ScriptOptions& options, Sink& out) {
  constexpr size_t kBatch = 2048;
  const LargeVector<uint64_t>& times = session.samples().time;
  auto shown_time = [&](size_t position) {
    uint64_t time = times[order[position]];
    if (options.relative_time) return time - times[order.front()];
    if (options.delta_time) return position == 0 ? 0 : time - times[order[position - 1]];
    return time;
  };
  size_t next = 0;
  size_t tokens = 2 * std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> buffers(tokens);
  namespace tbb = oneapi::tbb;
  struct Batch {
    size_t begin, end, buffer;
  };
  size_t serial = 0;
  tbb::parallel_pipeline(
      tokens,
      tbb::make_filter<void, Batch>(tbb::filter_mode::serial_in_order,
                                    [&](tbb::flow_control& control) -> Batch {
                                      if (next >= order.size() || out.failed() != 0) {
                                        control.stop();
                                        return {};
                                      }
                                      size_t begin = next;
                                      next = std::min(order.size(), begin + kBatch);
                                      return {begin, next, serial++ % tokens};
                                    }) &
          tbb::make_filter<Batch, Batch>(tbb::filter_mode::parallel,
                                         [&](Batch batch) {
                                           std::string& text = buffers[batch.buffer];
                                           text.clear();
                                           for (size_t i = batch.begin; i < batch.end; ++i)
                                             printer.print(order[i], shown_time(i), text);
                                           return batch;
                                         }) &
          tbb::make_filter<Batch, void>(tbb::filter_mode::serial_in_order,
                                        [&](Batch batch) { out.write(buffers[batch.buffer]); }));
}

/// `--per-event-dump`: one file per event, named after the input and the event.
Result<> dump_per_event(const Session& session, const SamplePrinter& printer,
                        const std::vector<uint32_t>& order, const ScriptOptions& options,
                        Env& env) {
  for (size_t event = 0; event < session.events().size(); ++event) {
    std::string path =
        fmt::format("{}.{}.dump", options.input, session.events()[EventId(event)].name);
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.valid())
      return fail(ErrorCode::kIo, "failed to open {}: {}", path, std::strerror(errno));
    std::vector<uint32_t> own;
    std::ranges::copy_if(order, std::back_inserter(own),
                         [&](uint32_t i) { return session.samples().event[i] == event; });
    FdSink file(fd.get());
    print_all(session, printer, own, options, file);
    file.flush();
    if (file.failed() != 0)
      return fail(ErrorCode::kIo, "failed to write {}: {}", path, std::strerror(file.failed()));
    env.out.print("[ {} script: Wrote {} samples to {} ]\n", env.tool, own.size(), path);
  }
  return {};
}

Result<> parse_list(std::string_view text, std::vector<uint32_t>& list) {
  for (std::string_view word : split(text, ',')) {
    auto dash = word.find('-');
    auto first = parse_number(word.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1));
    if (!first || !last || *last < *first || *last > UINT32_MAX || *last - *first > 65536)
      return fail(ErrorCode::kUsage, "expects numbers divided by commas, not '{}'", word);
    for (uint64_t i = *first; i <= *last; ++i) list.push_back(static_cast<uint32_t>(i));
  }
  return {};
}

class Script final : public Command {
 public:
  void declare(FlagTable& flags) override {
    ScriptOptions& o = options_;
    auto words = [](std::vector<std::string>& list) {
      return [&list](std::string_view text) -> Result<> {
        for (std::string_view word : split(text, ',')) list.emplace_back(word);
        return {};
      };
    };
    auto numbers = [](std::vector<uint32_t>& list) {
      return [&list](std::string_view text) { return parse_list(text, list); };
    };
    flags.usage("[<options>]");
    flags.text('i', "input", o.input, "file", "input file name");
    flags.boolean('f', "force", o.force, "don't complain, do it");
    flags.call('F', "fields", "str",
               "comma separated output fields prepend with 'type:'. +field to add and -field to "
               "remove. Valid types: "
               "hw,sw,trace,raw,break. Fields: "
               "comm,tid,pid,time,cpu,event,trace,ip,sym,dso,dsoff,addr,symoff,srcline,"
               "period,iregs,uregs,brstack,brstacksym,brstackoff,data_src,weight,bpf-output,phys_"
               "addr,misc,"
               "data_page_size,code_page_size,ins_lat,cgroup",
               [&o](std::string_view text) { return o.fields.apply(text, o.warnings); });
    flags.boolean('G', "hide-call-graph", o.hide_call_graph,
                  "When printing symbols do not display call chain");
    flags.boolean(0, "ns", o.nanoseconds, "Use 9 decimal places when displaying time");
    flags.boolean(0, "reltime", o.relative_time, "Show time stamps relative to start");
    flags.boolean(0, "deltatime", o.delta_time, "Show time stamps relative to previous event");
    flags.number(0, "max-stack", o.max_stack, "n",
                 "Set the maximum stack depth when printing the call chain");
    flags.call('c', "comms", "comm[,comm...]", "only display events for these comms",
               words(o.comms));
    flags.call('S', "symbols", "symbol[,symbol...]", "only consider these symbols",
               words(o.symbols));
    flags.call(0, "dsos", "dso[,dso...]", "only consider symbols in these DSOs", words(o.dsos));
    flags.call(0, "stop-bt", "symbol[,symbol...]", "Stop display of callgraph at these symbols",
               words(o.stop_backtrace_at));
    flags.call('C', "cpu", "cpu", "list of cpus to profile", numbers(o.cpus));
    flags.call(0, "pid", "pid[,pid...]", "only consider symbols in these pids", numbers(o.pids));
    flags.call(0, "tid", "tid[,tid...]", "only consider symbols in these tids", numbers(o.tids));
    flags.boolean(0, "per-event-dump", o.per_event_dump,
                  "Dump trace output to files named by the monitored events");
    flags.boolean(0, "show-kernel-path", o.show_kernel_path, "Show the path of [kernel.kallsyms]");
    flags.text('k', "vmlinux", o.symbol_sources.vmlinux, "file", "vmlinux pathname");
    flags.text(0, "kallsyms", o.symbol_sources.kallsyms, "file", "kallsyms pathname");
    flags.text(0, "symfs", o.symbol_sources.symfs, "directory",
               "Look for files with symbols relative to this directory");
    flags.boolean(0, "demangle", o.symbol_sources.demangle, "Enable symbol demangling");
    flags.boolean(0, "demangle-kernel", o.symbol_sources.demangle_kernel,
                  "Enable kernel symbol demangling");
    flags.boolean(0, "full-source-path", o.symbol_sources.full_source_path,
                  "Show full source file name path for source lines");
  }

  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments&) override {
    for (const std::string& warning : options_.warnings) env.err.print("{}\n", warning);
    SessionOptions session_options;
    session_options.open.force = options_.force;
    session_options.open.stdin_fd = env.in_fd;
    session_options.symbols = options_.symbol_sources;
    session_options.filter = {options_.pids, options_.tids, options_.cpus, {}};
    session_options.want_chains = !options_.hide_call_graph;
    Session session = TRY(Session::open(options_.input, session_options, env));
    PrinterOptions printing{options_.fields,           options_.nanoseconds,
                            !options_.hide_call_graph, options_.show_kernel_path,
                            options_.max_stack,        options_.stop_backtrace_at};
    SamplePrinter printer = TRY(SamplePrinter::make(session, printing));
    if (printer.needs_all_symbols()) session.load_all_symbols();
    std::vector<uint32_t> order = Selection(session, options_).samples();
    if (options_.per_event_dump)
      TRY(dump_per_event(session, printer, order, options_, env));
    else
      print_all(session, printer, order, options_, env.out);
    return 0;
  }

 private:
  ScriptOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_script() {
  return std::make_unique<Script>();
}

}  // namespace sonde
