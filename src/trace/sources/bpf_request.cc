#include "trace/sources/bpf_request.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "capture/opening/thread_map.h"
#include "trace/arguments/syscall_table.h"
#include "trace/sources/bpf_records.h"

namespace sonde {
namespace {

/// With more calls than this, the programs are attached to all calls: detaching a tracepoint takes
/// some tens of milliseconds.
constexpr size_t kMaxTracepoints = 4;

TracedCalls::Numbers numbers(const TraceRequest& request, const std::vector<uint32_t>& listed) {
  TracedCalls::Numbers set;
  for (uint32_t number : listed)
    if (number < set.size()) set.set(number);
  if (request.all_calls) return TracedCalls::Numbers().set();
  return request.invert ? ~set : set;
}

/// The names of their tracepoints; empty if any of them has none.
std::vector<std::string> tracepoints_of(const std::vector<uint32_t>& calls) {
  std::vector<std::string> names;
  for (uint32_t number : calls) {
    const Syscall* call = SyscallTable::get().find(host_syscall_abis().native, number);
    if (call == nullptr) return {};
    names.emplace_back(call->kernel_name);
  }
  return names;
}

int32_t execve_number(SyscallAbi abi) {
  const Syscall* call = SyscallTable::get().find("execve");
  return call == nullptr ? -1 : call->number(abi);
}

/// Whether the calls include one that executes a new program.
bool has_exec(const TracedCalls& calls, const SyscallAbis& abis) {
  for (std::string_view name : {"execve", "execveat"}) {
    const Syscall* call = SyscallTable::get().find(name);
    if (call == nullptr) continue;
    auto is_in = [&](const TracedCalls::Numbers& numbers, SyscallAbi abi) {
      int number = call->number(abi);
      return number >= 0 && static_cast<size_t>(number) < numbers.size() &&
             numbers[static_cast<size_t>(number)];
    };
    if (is_in(calls.native, abis.native) || is_in(calls.compat, abis.compat)) return true;
  }
  return false;
}

trace_rule as_program_rule(const CaptureRule& rule) {
  static_assert(static_cast<int>(MemoryShape::kFixed) == TRACE_FIXED);
  static_assert(static_cast<int>(MemoryShape::kString) == TRACE_STRING);
  static_assert(static_cast<int>(MemoryShape::kCounted) == TRACE_COUNTED);
  static_assert(static_cast<int>(MemoryShape::kResult) == TRACE_RESULT);
  static_assert(static_cast<int>(MemoryShape::kPointed) == TRACE_POINTED);
  static_assert(static_cast<int>(MemoryShape::kStringArray) == TRACE_STRING_ARRAY);
  static_assert(static_cast<int>(MemoryShape::kIovec) == TRACE_IOVEC);
  static_assert(static_cast<int>(MemoryShape::kMsghdr) == TRACE_MSGHDR);
  static_assert(static_cast<int>(MemoryShape::kMmsghdr) == TRACE_MMSGHDR);
  static_assert(int{kMessageName} == TRACE_MESSAGE_NAME);
  static_assert(int{kMessageControl} == TRACE_MESSAGE_CONTROL);
  static_assert(int{kMessageIovec} == TRACE_MESSAGE_IOVEC);
  static_assert(int{kMessageData} == TRACE_MESSAGE_DATA);
  return {.arg = rule.arg,
          .at_exit = static_cast<uint8_t>(rule.at_exit ? 1 : 0),
          .shape = static_cast<uint8_t>(rule.shape),
          .length_arg = rule.length_arg,
          .pointer_bytes = rule.pointer_bytes,
          .max_elements = rule.max_elements,
          .element_bytes = rule.element_bytes,
          .max_bytes = rule.max_bytes,
          .unused = 0};
}

void add_rules(SyscallAbi abi, bool compat, const TracedCalls::Numbers& wanted,
               const CaptureLimits& limits, std::vector<SyscallTrace::CallRules>& all) {
  for (const Syscall& call : SyscallTable::get().all()) {
    int number = call.number(abi);
    if (number < 0 || static_cast<size_t>(number) >= wanted.size() ||
        !wanted[static_cast<size_t>(number)])
      continue;
    SyscallTrace::CallRules rules{.compat = compat, .number = static_cast<uint32_t>(number)};
    for (const CaptureRule& rule : capture_rules(call, abi, limits))
      (rule.at_exit ? rules.at_exit : rules.at_entry).push_back(as_program_rule(rule));
    rules.descriptors = descriptor_registers(call, abi);
    if (!rules.at_entry.empty() || !rules.at_exit.empty() || rules.descriptors != 0)
      all.push_back(std::move(rules));
  }
}

}  // namespace

std::vector<uint32_t> threads_asked_for(const TraceRequest& request) {
  std::vector<uint32_t> tids(request.tids.begin(), request.tids.end());
  for (int32_t pid : request.pids)
    for (pid_t tid : numeric_entries(fmt::format("/proc/{}/task", pid)))
      tids.push_back(static_cast<uint32_t>(tid));
  return tids;
}

Result<TracedCalls> traced_calls(const TraceRequest& request) {
  TracedCalls calls;
  calls.tasks.all = request.pids.empty() && request.tids.empty();
  calls.tasks.tids = threads_asked_for(request);
  if (!request.pids.empty()) calls.tasks.list = [request] { return threads_asked_for(request); };
  if (!calls.tasks.all && calls.tasks.tids.empty())
    return fail(ErrorCode::kNotFound, "there is no process {} (any more)", request.pids.front());
  calls.excluded.assign(request.not_pids.begin(), request.not_pids.end());
  calls.excluded.push_back(static_cast<uint32_t>(::getpid()));
  calls.tasks.inherit = request.follow_children;
  calls.tasks.enable_on_exec = request.from_exec;
  calls.native = numbers(request, request.calls);
  calls.compat = numbers(request, request.calls_32);
  // A workload may begin with an execve that was not requested, which only programs attached to all
  // calls see. Calls of 32-bit programs have no tracepoints of their own.
  if (!request.all_calls && !request.invert && !request.has_32_bit &&
      request.calls.size() <= kMaxTracepoints)
    calls.tracepoints = tracepoints_of(request.calls);
  SyscallAbis abis = host_syscall_abis();
  calls.native_execve = execve_number(abis.native);
  calls.compat_execve = execve_number(abis.compat);
  calls.traces_exec = has_exec(calls, abis);
  calls.cpus = request.cpus;
  calls.cgroups = request.cgroups;
  calls.failed_only = request.failed_only;
  calls.min_duration_ns = request.min_duration_ns;
  return calls;
}

std::vector<SyscallTrace::CallRules> rules_for(const TraceRequest& request,
                                               const TracedCalls& calls) {
  std::vector<SyscallTrace::CallRules> all;
  if (!request.arguments) return all;
  SyscallAbis abis = host_syscall_abis();
  CaptureLimits limits;
  limits.string_bytes = std::min<uint16_t>(request.string_bytes, TRACE_PIECE_BYTES - 2);
  add_rules(abis.native, false, calls.native, limits, all);
  add_rules(abis.compat, true, calls.compat, limits, all);
  return all;
}

}  // namespace sonde
