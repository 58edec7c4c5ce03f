// ftrace: calls of kernel functions, from the kernel's own tracers.
#include "cmd/ftrace/ftrace.h"

#include "base/file.h"
#include "base/text.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {
namespace {

/// Options of `ftrace` and `ftrace trace`.
struct FtraceFlags {
  FtraceRun run;
  std::string tracer = "function_graph";
  std::optional<std::string> list;  // -F: a pattern
  bool any_used = false;

  void declare(FlagTable& flags) {
    declare_target(flags, run.target);
    TraceSettings& settings = run.settings;
    flags.text('t', "tracer", tracer, "tracer",
               "tracer: function_graph (the default), function, or another one of the kernel's");
    flags
        .call('F', "funcs", "[FILTER]",
              "list functions that can be traced; a glob chooses among them",
              [this](std::string_view pattern) -> Result<> {
                list = pattern;
                return {};
              })
        .when_last("*");
    flags.number('D', "delay", run.delay_ms, "n",
                 "begin to trace this many milliseconds after the start (0)");
    declare_buffer_size(flags, settings);
    flags.boolean(0, "inherit", settings.inherit,
                  "also trace threads and processes that traced ones start");
    flags.list('T', "trace-funcs", settings.functions, "func",
               "trace calls of these functions, a name or glob; chooses the tracer function");
    flags.list('N', "notrace-funcs", settings.not_functions, "func",
               "do not trace these functions, a name or glob; chooses the tracer function");
    flags.call(
        0, "func-opts", "options", "what the tracer function adds to a call: call-graph, irq-info",
        [&settings](std::string_view words) { return parse_function_options(words, settings); });
    flags.list('G', "graph-funcs", settings.graph_functions, "func",
               "trace these functions and all that they call; chooses the tracer function_graph");
    flags.list(
        'g', "nograph-funcs", settings.not_graph_functions, "func",
        "leave out these functions and all that they call; chooses the tracer function_graph");
    flags.call(
        0, "graph-opts", "options",
        "what the tracer function_graph shows: "
        "nosleep-time,noirqs,verbose,tail,args,retval,retval-hex,retaddr,thresh=<us>,depth=<n>",
        [&settings](std::string_view words) { return parse_graph_options(words, settings); });
    flags.watch([this](const std::string&, const Flag::Use&) { any_used = true; });
  }

  /// What -G and -g, then -T and -N imply takes precedence over -t.
  [[nodiscard]] std::string chosen_tracer() const {
    const TraceSettings& settings = run.settings;
    if (!settings.graph_functions.empty() || !settings.not_graph_functions.empty())
      return "function_graph";
    if (!settings.functions.empty() || !settings.not_functions.empty()) return "function";
    return tracer;
  }
};

Result<int> list_functions(std::string_view pattern, Env& env) {
  Tracefs tracefs;
  std::string path = tracefs.path() + "/available_filter_functions";
  auto text = read_file(path);
  if (!text)
    return fail(text.error().code,
                "{}: the list needs root, a kernel with CONFIG_DYNAMIC_FTRACE, and no policy that "
                "forbids tracing its functions",
                text.error());
  for (std::string_view line : split(*text, '\n')) {
    std::string_view name = line.substr(0, line.find(' '));
    if (!name.empty() && glob_match(pattern, name)) env.out.print("{}\n", line);
  }
  return 0;
}

Result<int> run_trace(const FtraceFlags& flags, const Arguments& arguments, Env& env) {
  if (flags.list) return list_functions(*flags.list, env);
  FtraceRun run = flags.run;
  run.settings.tracer = flags.chosen_tracer();
  auto write = [&](std::string_view text) { env.out.write_lines(text); };
  return run_tracer(run, arguments.words, {.on_heading = write, .on_text = write}, env);
}

void declare_usage(FlagTable& flags) {
  flags.usage("[<options>] [<command>]");
  flags.usage("[<options>] -- [<command>] [<options>]");
  flags.stop_at_first_word();
}

/// `ftrace trace`.
class FtraceTrace final : public Command {
 public:
  explicit FtraceTrace(std::string tracer) { flags_.tracer = std::move(tracer); }
  void declare(FlagTable& flags) override {
    declare_usage(flags);
    flags.description(
        R"(Prints the output of a kernel tracer while the command runs: the functions that it calls (function_graph, -G), or each call of some functions (function, -T).)");
    flags_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }
  Result<int> run(Env& env, const Arguments& arguments) override {
    return run_trace(flags_, arguments, env);
  }

 private:
  FtraceFlags flags_;
};

class Ftrace final : public Command {
 public:
  Result<> configure(const Config& config) override {
    auto tracer = config.get("ftrace.tracer");
    if (!tracer) return {};
    if (*tracer != "function_graph" && *tracer != "function")
      return fail(
          ErrorCode::kUsage,
          "ftrace.tracer in the perfconfig: expects function_graph (the default) or function");
    flags_.tracer = *tracer;
    return {};
  }

  void declare(FlagTable& flags) override {
    declare_usage(flags);
    flags.usage("{trace|latency|profile} [<options>] [<command>]");
    flags.usage("{trace|latency|profile} [<options>] -- [<command>] [<options>]");
    flags.subcommands({"trace", "latency", "profile"});
    flags.description(
        R"(Shows which kernel functions are called, using the kernel's own tracers (tracefs; this needs root). `trace`, which may be omitted, prints their output as it comes; `latency` makes a histogram of how long one function takes; `profile` adds up the times of all functions, or of some.

Tracing uses its own instance in tracefs, so that nobody else's is touched. What exists only once in the kernel (function_graph before Linux 6.12, the filters of -G and -g, depth and threshold) is restored at the end, even if the program is killed.

Without a command, -p or --tid, the whole machine is traced until Ctrl-C.)");
    flags.section("EXAMPLES", R"(  sonde ftrace -G vfs_read -- cat file
  sonde ftrace -T 'tcp_*' -a -- sleep 1
  sonde ftrace -F 'ext4_*'
  sonde ftrace latency -T schedule -a -- sleep 1
  sonde ftrace profile -G do_sys_openat2 -s count -- ls)");
    flags_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    // After options of `trace`, a word is a command.
    if (arguments.empty() || arguments.after_dashes || flags_.any_used) return nullptr;
    if (arguments[0] == "trace") return std::make_unique<FtraceTrace>(flags_.tracer);
    if (arguments[0] == "latency") return make_ftrace_latency();
    if (arguments[0] == "profile") return make_ftrace_profile();
    return nullptr;
  }
  Result<int> run(Env& env, const Arguments& arguments) override {
    return run_trace(flags_, arguments, env);
  }

 private:
  FtraceFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_ftrace() {
  return std::make_unique<Ftrace>();
}

}  // namespace sonde
