#include "trace/session/request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/files/regular_file.h"
#include "base/process/program.h"
#include "base/text.h"
#include "capture/rings/ring_buffer.h"
#include "capture/synthesis/synthesis_cgroup.h"
#include "perfdata/records/sideband.h"
#include "trace/session/selected_events.h"

namespace sonde {
namespace {

constexpr bool kIsArm =
#if defined(__aarch64__)
    true;
#else
    false;
#endif
constexpr SyscallAbi kNative = kIsArm ? SyscallAbi::kArm64 : SyscallAbi::kX86_64;
constexpr SyscallAbi kNarrow = kIsArm ? SyscallAbi::kArm : SyscallAbi::kI386;

void set_calls(const CallFilter& choice, TraceRequest& request) {
  request.all_calls = choice.all;
  request.invert = choice.invert;
  for (const CallFilter::Call& call : choice.calls) {
    if (call.abi == kNative) request.calls.push_back(call.number);
    if (call.abi == kNarrow) request.calls_32.push_back(call.number);
  }
}

/// Tells by the fifth byte of the program's file: ELFCLASS32.
bool is_32_bit_program(const std::string& path) {
  constexpr std::string_view kElf32 = "\177ELF\1";
  std::array<char, kElf32.size()> begin{};
  Result<Fd> fd = open_regular(path);
  return fd && ::read(fd->get(), begin.data(), begin.size()) == ssize_t{begin.size()} &&
         std::string_view(begin.data(), begin.size()) == kElf32;
}

void set_tasks(const TraceOptions& options, const Capture& capture, const Env& env,
               TraceRequest& request) {
  const Target& target = capture.target;
  request.follow_children = !options.record.sampling.no_inherit;
  if (target.is_command()) {
    request.pids.push_back(capture.workload->pid());
    request.has_32_bit = is_32_bit_program(
        find_program(options.record.target.command.front(), env.variable("PATH").value_or("")));
    request.from_exec = !options.record.delay.any();
  } else if (target.kind == Target::Kind::kTasks) {
    for (const ThreadEntry& thread : target.threads) {
      request.tids.push_back(thread.tid);
      request.has_32_bit |= is_32_bit_program(fmt::format("/proc/{}/exe", thread.tid));
    }
    for (std::string_view pid : split(target.pids, ','))
      if (auto number = parse_number(trim(pid)); number && *number <= INT32_MAX)
        request.pids.push_back(static_cast<int32_t>(*number));
    if (!options.record.target.tids.empty() && options.record.target.pids.empty())
      request.follow_children = false;
  }
  if (!options.record.target.cpus.empty()) request.cpus = target.cpus;
  request.not_pids.assign(options.not_pids.begin(), options.not_pids.end());
  for (int32_t pid : own_processes()) request.not_pids.push_back(pid);
}

TraceRequest::Totals totals_of(const TraceOptions& options) {
  bool each_counts = options.failed_only || options.min_duration_ns != 0;
  if (!options.summary_only || each_counts) return TraceRequest::Totals::kNone;
  switch (options.tables.mode) {
    case SummaryMode::kTotal:
      return TraceRequest::Totals::kAll;
    case SummaryMode::kCgroup:
      return TraceRequest::Totals::kByCgroup;
    case SummaryMode::kThread:
      break;
  }
  return TraceRequest::Totals::kByThread;
}

}  // namespace

std::string why_not_bpf(const TraceOptions& options) {
  if (options.bpf == false) return "--no-bpf";
  if (options.record.sampling.call_graph != CallGraphMode::kNone || options.kernel_call_chains)
    return "call chains need samples of tracepoints";
  if (options.print_samples) return "--print-sample shows samples of tracepoints";
  if (!options.gate.on.empty() || !options.gate.off.empty())
    return "--switch-on and --switch-off work on samples";
  return "";
}

Result<TraceRequest> trace_request(const TraceOptions& options, const Capture& capture,
                                   const Env& env) {
  TraceRequest request;
  set_calls(options.calls, request);
  set_tasks(options, capture, env, request);
  if (!options.cgroup_of_all.empty()) {
    // All tasks are below the root, so that it selects nothing.
    if (auto id = TRY(cgroup_by_name(options.cgroup_of_all))) request.cgroups.push_back(*id);
  }
  request.failed_only = options.failed_only;
  request.min_duration_ns = options.min_duration_ns;
  request.totals = totals_of(options);
  request.errno_totals = options.tables.errnos;
  request.arguments = !options.summary_only;
  request.buffer_bytes = options.record.ring_pages * page_size();
  return request;
}

}  // namespace sonde
