// ftrace latency: the distribution of the durations of one function's calls.
#include "cli/argument_count.h"
#include "cmd/ftrace/ftrace.h"
#include "ftrace/measured_calls.h"

namespace sonde {
namespace {

class FtraceLatency final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<command>]");
    flags.usage("[<options>] -- [<command>] [<options>]");
    flags.stop_at_first_word();
    flags.description(
        R"(Shows a histogram of how long the calls of a kernel function took, and their sum, average, longest and shortest. With -i, the calls are read from the output of `ftrace trace`.

With -b, BPF programs add up the times in the kernel, which costs less than a line of text per call, needs no tracer, and leaves tracefs alone. -e then measures from one tracepoint to another in the same thread, for any two events.)");
    declare_target(flags, run_.target);
    flags.list('T', "trace-funcs", run_.settings.functions, "func", "function to measure");
    declare_buffer_size(flags, run_.settings);
    flags.boolean('n', "use-nsec", nanoseconds_, "buckets in nanoseconds, instead of microseconds");
    flags.boolean('b', "use-bpf", use_bpf_, "measure by BPF programs, instead of a tracer's text");
    flags.text('e', "events", events_, "begin,end",
               "with -b: measure from the first tracepoint to the second, in the same thread");
    flags.number(0, "bucket-range", style_.buckets.range, "n",
                 "buckets of this many microseconds (-n: nanoseconds), instead of powers of two");
    flags.number(0, "min-latency", style_.buckets.from, "n",
                 "where the first bucket of --bucket-range begins; shorter calls share one");
    flags.number(0, "max-latency", style_.buckets.to, "n",
                 "where the last bucket of --bucket-range begins, that of all longer calls");
    flags.boolean(0, "hide-empty", style_.hide_empty, "leave out buckets without calls");
    flags.text('i', "input", input_, "file",
               "read this output of `ftrace trace`, instead of tracing");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    style_.buckets.unit = nanoseconds_ ? TimeUnit::kNanoseconds : TimeUnit::kMicroseconds;
    TRY(style_.buckets.settle());
    if (use_bpf_ || !events_.empty()) return measure(env, arguments);
    if (run_.settings.functions.size() != 1)
      return fail(ErrorCode::kUsage, "Error: -T names the function to measure: one");
    CallTimes times;
    std::string_view wanted = run_.settings.functions[0];
    GraphCalls calls([&](std::string_view name, uint64_t duration_ns) {
      // Nothing else was traced.
      if (input_.empty() || name == wanted) times.add(duration_ns, style_.buckets);
    });
    if (!input_.empty()) TRY(no_arguments(arguments));
    return trace_calls(run_, input_, arguments.words, calls, env,
                       [&] { write_call_times(env.out, times, style_); });
  }

 private:
  Result<int> measure(Env& env, const Arguments& arguments) {
    if (!use_bpf_)
      return fail(ErrorCode::kUsage, "Error: -e needs -b: a tracer of functions sees no events");
    if (!input_.empty() || run_.settings.buffer_bytes != 0)
      return fail(ErrorCode::kUsage,
                  "Error: -i and -m are for the text of a tracer; -b produces none");
    return measure_calls({run_.target, run_.settings.functions, events_, style_.buckets},
                         arguments.words, env,
                         [&](const CallTimes& times) { write_call_times(env.out, times, style_); });
  }

  FtraceRun run_;
  CallTimesStyle style_;
  std::string input_, events_;
  bool nanoseconds_ = false, use_bpf_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ftrace_latency() {
  return std::make_unique<FtraceLatency>();
}

}  // namespace sonde
