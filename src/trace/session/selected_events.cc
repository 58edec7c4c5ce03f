#include "trace/session/selected_events.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "event/parser/event_parser.h"

namespace sonde {
namespace {

constexpr SyscallAbi kThisAbi =
#if defined(__aarch64__)
    SyscallAbi::kArm64;
#else
    SyscallAbi::kX86_64;
#endif

Result<std::vector<ParsedEvent>> parse(const std::string& text, Env& env) {
  PmuCatalog pmus;
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  return parse_events(text, {.pmus = pmus, .tracefs = tracefs, .tool = env.tool});
}

/// Explains errors in terms of what was asked for: calls, not the tracepoints that show them.
Result<> check_tracepoints(Env& env) {
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  Result<uint64_t> id = tracefs.id({"raw_syscalls", "sys_enter"});
  if (id) return {};
  int reason = id.error().code == ErrorCode::kPermission ? EACCES : ENOENT;
  return std::unexpected(
      Error{ErrorCode::kPermission, tracefs.explain(reason, "raw_syscalls", "sys_(enter|exit)")});
}

/// The tracepoints of all calls with a filter, as perf. Those of single calls
/// (syscalls:sys_enter_read) would leave the program's other calls alone, but the kernel loses
/// their events while other processes that trace single calls come and go (seen on 6.18). Call
/// chains are the same: the program's part begins with the registers at its call in either.
Result<std::vector<ParsedEvent>> events_of_calls(const TraceOptions& options, Env& env) {
  TRY(check_tracepoints(env));
  auto events = TRY(parse("raw_syscalls:sys_enter,raw_syscalls:sys_exit", env));
  std::string filter = call_filter(options.calls, kThisAbi);
  for (ParsedEvent& event : events)
    if (!filter.empty()) join_filter(event, filter);
  return events;
}

/// A call gets its chain on return only, and without kernel frames unless they are asked for.
void set_chains(std::vector<ParsedEvent>& events, const TraceOptions& options, bool calls) {
  const SamplingOptions& sampling = options.record.sampling;
  if (sampling.call_graph == CallGraphMode::kNone && !(calls && options.kernel_call_chains)) return;
  for (ParsedEvent& event : events) {
    if (calls && event.tracepoint.name.starts_with("sys_enter")) continue;
    if (event.terms.call_graph || event.terms.max_stack) continue;
    bool kernel_only = sampling.call_graph == CallGraphMode::kNone;
    event.terms.call_graph = kernel_only ? CallGraphTerm::kFramePointer
                                         : static_cast<CallGraphTerm>(sampling.call_graph);
    event.terms.stack_size = sampling.stack_dump_size();
    if (sampling.max_stack != 0) event.terms.max_stack = sampling.max_stack;
    event.attr.exclude_callchain_kernel = calls && !options.kernel_call_chains;
    event.attr.exclude_callchain_user = calls && kernel_only;
  }
}

void leave_out(ParsedEvent& event, const std::vector<int32_t>& pids) {
  for (int32_t pid : pids) join_filter(event, fmt::format("common_pid != {}", pid));
}

Result<std::vector<ParsedEvent>> events_of_faults(const TraceOptions& options, Env& env) {
  std::string text;
  if (options.faults == FaultKinds::kMajor || options.faults == FaultKinds::kAll)
    text = "major-faults";
  if (options.faults == FaultKinds::kMinor || options.faults == FaultKinds::kAll)
    text += text.empty() ? "minor-faults" : ",minor-faults";
  if (text.empty()) return std::vector<ParsedEvent>{};
  auto events = TRY(parse(text, env));
  for (ParsedEvent& event : events) {
    event.attr.sample_type |= abi::kSampleAddr | abi::kSampleTime | abi::kSampleCpu;
    event.terms.period = 1;
  }
  return events;
}

/// Carries the sideband if nothing else is opened.
ParsedEvent sideband_event() {
  ParsedEvent event;
  event.name = "dummy:u";
  event.attr.type = abi::kTypeSoftware;
  event.attr.config = abi::kSwDummy;
  event.attr.sample_type = abi::kSampleTime | abi::kSampleCpu;
  event.attr.sample_period = 1;
  return event;
}

}  // namespace

std::string call_filter(const CallFilter& choice, SyscallAbi abi) {
  std::string filter;
  if (choice.all) return filter;
  for (const CallFilter::Call& call : choice.calls)
    if (call.abi == abi)
      filter += fmt::format("{}id {} {}",
                            filter.empty()  ? ""
                            : choice.invert ? " && "
                                            : " || ",
                            choice.invert ? "!=" : "==", call.number);
  return filter;
}

std::vector<int32_t> own_processes() {
  std::vector<int32_t> pids = {::getpid()};
  int32_t pid = pids.front();
  for (int depth = 0; depth < 64 && pid > 1; ++depth) {
    Result<std::string> stat = read_file(fmt::format("/proc/{}/stat", pid));
    if (!stat) break;
    size_t open = stat->find('('), close = stat->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close + 4 > stat->size()) break;
    std::string_view name = std::string_view(*stat).substr(open + 1, close - open - 1);
    if (name.starts_with("sshd") || name.starts_with("gnome-terminal")) {
      pids.push_back(pid);
      break;
    }
    std::string_view rest = std::string_view(*stat).substr(close + 4);  // after ") S "
    pid = static_cast<int32_t>(parse_number(rest.substr(0, rest.find(' '))).value_or(0));
  }
  return pids;
}

Result<TraceEvents> make_trace_events(const TraceOptions& options, bool calls_by_tracepoints,
                                      Env& env) {
  TraceEvents made;
  made.record = options.record;
  made.record.quiet = true;
  EventList& list = made.record.events = EventList();
  std::vector<std::string> cgroups;
  std::vector<int32_t> left_out(options.not_pids.begin(), options.not_pids.end());
  if (!options.record.target.has_task() && options.record.target.command.empty())
    for (int32_t pid : own_processes()) left_out.push_back(pid);
  auto add = [&](std::vector<ParsedEvent> events, bool calls) {
    set_chains(events, options, calls);
    for (ParsedEvent& event : events) {
      made.max_per_event.push_back(event.terms.max_events.value_or(0));
      event.terms.max_events.reset();
      if (event.attr.type == abi::kTypeTracepoint) leave_out(event, left_out);
    }
    cgroups.resize(list.size() + events.size(), options.cgroup_of_all);
    if (!events.empty()) list.append(std::move(events));
  };
  if (options.wants_calls && calls_by_tracepoints) add(TRY(events_of_calls(options, env)), true);
  made.call_events = list.size();
  add(TRY(events_of_faults(options, env)), false);
  if (options.runtime) add(TRY(parse("sched:sched_stat_runtime", env)), false);
  size_t before = list.size();
  add(options.record.events.events(), false);
  for (size_t i = 0; i < options.record.cgroups.size(); ++i)
    cgroups[before + i] = options.record.cgroups[i];
  if (list.empty()) add({sideband_event()}, false);
  made.record.cgroups = std::move(cgroups);
  made.record.sampling.call_graph = CallGraphMode::kNone;
  made.record.sampling.clockid = CLOCK_MONOTONIC;
  made.record.sampling.bpf_events = false;
  made.record.sampling.addresses = options.faults != FaultKinds::kNone;  // data mappings, too
  return made;
}

}  // namespace sonde
