// ftrace profile: accumulated times of kernel functions.
#include "cli/argument_count.h"
#include "cmd/ftrace/ftrace.h"
#include "ftrace/call_profile.h"

namespace sonde {
namespace {

class FtraceProfile final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.usage("[<options>] -- [<command>] [<options>]");
    flags.stop_at_first_word();
    flags.description(
        R"(Shows a line per kernel function that was called: how long its calls took in total, on average and at most, and how many there were. Times include the functions called meanwhile. With -i, the calls are read from the output of `ftrace trace`.)");
    declare_target(flags, run_.target);
    TraceSettings& settings = run_.settings;
    flags.list('T', "trace-funcs", settings.functions, "func",
               "time these functions, a name or glob (default: all)");
    flags.list('N', "notrace-funcs", settings.not_functions, "func",
               "do not time these functions, a name or glob");
    flags.list('G', "graph-funcs", settings.graph_functions, "func",
               "time these functions and all that they call");
    flags.list('g', "nograph-funcs", settings.not_graph_functions, "func",
               "leave out these functions and all that they call");
    declare_buffer_size(flags, settings);
    flags
        .call('s', "sort", "key", "column to sort by: total (the default), avg, max, count, name",
              [this](std::string_view word) -> Result<> {
                sort_ = TRY(parse_call_sort(word));
                return {};
              })
        .offers({"total", "avg", "max", "count", "name"});
    flags.call(
        0, "graph-opts", "options",
        "which calls are timed, and how: nosleep-time,noirqs,thresh=<us>,depth=<n>",
        [&settings](std::string_view words) { return parse_graph_options(words, settings); });
    flags.text('i', "input", input_, "file",
               "read this output of `ftrace trace`, instead of tracing");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    run_.settings.tail = true;
    CallProfile profile;
    GraphCalls calls(
        [&](std::string_view name, uint64_t duration_ns) { profile.add(name, duration_ns); });
    if (!input_.empty()) TRY(no_arguments(arguments));
    return trace_calls(run_, input_, arguments.words, calls, env,
                       [&] { write_call_profile(env.out, profile.sorted(sort_)); });
  }

 private:
  FtraceRun run_;
  CallSort sort_ = CallSort::kTotal;
  std::string input_;
};

}  // namespace

std::unique_ptr<Command> make_ftrace_profile() {
  return std::make_unique<FtraceProfile>();
}

}  // namespace sonde
