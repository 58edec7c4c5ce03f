#include "ftrace/measured_calls.h"

#include "base/file.h"
#include "base/text.h"
#include "bpf/function_times.h"
#include "capture/control/measured_command.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/followed_target.h"
#include "symbol/kallsyms_lines.h"

namespace sonde {
namespace {

Result<> choose_what(const CallTimesRequest& request, FunctionTimes::Options& wanted) {
  if (request.events.empty()) {
    if (request.functions.size() != 1)
      return fail(ErrorCode::kUsage, "Error: -T names the function to measure: one");
    wanted.function = request.functions[0];
    return {};
  }
  if (!request.functions.empty())
    return fail(ErrorCode::kUsage, "Error: -T and -e exclude each other");
  std::vector<std::string_view> names = split(request.events, ',');
  if (names.size() != 2)
    return fail(ErrorCode::kUsage, "Error: -e takes the events that begin and end: two, not {}",
                names.size());
  auto own_name = [](std::string_view name) {
    return std::string(
        name.substr(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1));
  };
  wanted.first_event = own_name(names[0]);
  wanted.second_event = own_name(names[1]);
  return {};
}

Result<> choose_threads(const FtraceTarget& target, FunctionTimes::Options& wanted) {
  wanted.tasks = TRY(followed_tasks(target.pids, target.tids));
  if (target.cpus.empty()) return {};
  std::vector<int> online = TRY(online_cpus());
  for (int cpu : TRY(select_cpus(target.cpus, online)))
    wanted.cpus.push_back(static_cast<uint32_t>(cpu));
  return {};
}

bool kernel_has_function(std::string_view name) {
  auto text = read_file("/proc/kallsyms");
  if (!text) return true;
  KallsymsLines lines(*text);
  for (KallsymsLine line; lines.next(line);)
    if (line.name() == name) return true;
  return false;
}

/// Why the kernel cannot measure this, and what to use instead.
Error refusal(const CallTimesRequest& request, const FunctionTimes::Options& wanted,
              const Error& cause) {
  if (wanted.function.empty())
    return {cause.code, fmt::format("-e {}: {}; '-T FUNCTION' without -b measures functions",
                                    request.events, cause.message)};
  if (cause.code != ErrorCode::kPermission && !kernel_has_function(wanted.function))
    return {ErrorCode::kNotFound,
            fmt::format("-T {}: the kernel has no such function (/proc/kallsyms lists them)",
                        wanted.function)};
  return {cause.code,
          fmt::format("-T {}: the kernel does not let BPF programs see calls: {}; this needs root, "
                      "and CONFIG_DYNAMIC_FTRACE (with CONFIG_DEBUG_INFO_BTF) or CONFIG_KPROBES; "
                      "without -b, the tracer function_graph measures",
                      wanted.function, cause.message)};
}

void report_lost(const FunctionTimes::Lost& lost, std::string_view way, Env& env) {
  if (lost.unended > 0)
    env.err.print("{} were not measured: their end was not seen ({})\n", lost.unended, way);
  if (lost.too_deep > 0)
    env.err.print("{} calls were not measured: the function recursed too deeply\n", lost.too_deep);
}

}  // namespace

Result<int> measure_calls(const CallTimesRequest& request, const std::vector<std::string>& command,
                          Env& env, const std::function<void(const CallTimes&)>& write) {
  FunctionTimes::Options wanted;
  const CallBuckets& buckets = request.buckets;
  wanted.nanoseconds = buckets.unit == TimeUnit::kNanoseconds;
  if (buckets.range != 0)
    wanted.even_buckets = {buckets.range, buckets.from, buckets.to, buckets.count()};
  TRY(choose_what(request, wanted));
  TRY(choose_threads(request.target, wanted));
  MeasuredCommand measured = TRY(MeasuredCommand::fork(command, env));
  measured.choose_tasks(request.target.all_cpus || !wanted.cpus.empty(), wanted.tasks);
  auto opened = FunctionTimes::open(wanted);
  if (!opened) return std::unexpected(refusal(request, wanted, opened.error()));
  if (request.target.verbose > 0) env.err.print("measured by: {}\n", opened->way());
  if (!wanted.tasks.enable_on_exec) opened->set_enabled(true);
  int status = TRY(measured.run());
  opened->set_enabled(false);
  static_assert(CallTimes::kBuckets == FunctionTimes::kBuckets);
  FunctionTimes::Sums sums = opened->sums();
  write({.counts = sums.counts,
         .calls = sums.calls,
         .total_ns = sums.total_ns,
         .shortest_ns = sums.shortest_ns,
         .longest_ns = sums.longest_ns});
  report_lost(opened->lost(), opened->way(), env);
  return status;
}

}  // namespace sonde
