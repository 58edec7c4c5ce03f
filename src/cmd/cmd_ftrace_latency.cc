// ftrace latency: how the times of one function's calls spread.
#include <array>

#include "cmd/cmd_ftrace.h"
#include "cmd/refused_options.h"
#include "ftrace/call_times.h"

namespace sonde {
namespace {

constexpr std::array kBpf{
    RefusedOption{'b', "use-bpf", nullptr, "Use BPF to measure function latency",
                  "calls are measured by function_graph, which needs no BPF"},
};

class FtraceLatency final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.usage("[<options>] -- [<command>] [<options>]");
    flags.stop_at_first_word();
    flags.description(
        R"(A histogram of how long the calls of a function of the kernel took, and their sum, average, longest and shortest. With -i the calls are those of a text that `ftrace trace` has printed.)");
    run_.target.declare(flags);
    flags.list('T', "trace-funcs", run_.settings.functions, "func",
               "Show latency of given function");
    declare_buffer_size(flags, run_.settings);
    flags.boolean('n', "use-nsec", nanoseconds_, "Use nano-second histogram");
    declare_refused(flags, kBpf);
    flags.boolean(0, "hide-empty", style_.hide_empty, "Hide empty buckets in the histogram");
    flags.text('i', "input", input_, "file", "Read the text of a trace instead of tracing");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (run_.settings.functions.size() != 1)
      return fail(ErrorCode::kUsage, "Error: -T names the function to measure: one");
    style_.unit = nanoseconds_ ? TimeUnit::kNanoseconds : TimeUnit::kMicroseconds;
    CallTimes times;
    std::string_view wanted = run_.settings.functions[0];
    GraphCalls calls([&](std::string_view name, uint64_t duration_ns) {
      // Traced was nothing else.
      if (input_.empty() || name == wanted) times.add(duration_ns, style_.unit);
    });
    int status = TRY(trace_calls(run_, input_, arguments, calls, env));
    write_call_times(env.out, times, style_);
    return status;
  }

 private:
  FtraceRun run_;
  CallTimesStyle style_;
  std::string input_;
  bool nanoseconds_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ftrace_latency() {
  return std::make_unique<FtraceLatency>();
}

}  // namespace sonde
