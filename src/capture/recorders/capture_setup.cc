#include "capture/recorders/capture_setup.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "abi/regs.h"
#include "base/text.h"
#include "capture/aux/intel_tracers.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/event_config.h"
#include "capture/opening/event_opener.h"
#include "capture/opening/owned_events.h"
#include "capture/recorders/aggregate_recorder.h"
#include "capture/recorders/call_graph_choice.h"
#include "capture/recorders/futex_event.h"
#include "capture/recorders/off_cpu_event.h"
#include "capture/recorders/user_filter.h"
#include "capture/synthesis/synthesis_cgroup.h"
#include "event/pmu/trace_pmu.h"

namespace sonde {
namespace {

constexpr uint64_t kDefaultFreq = 4000;

uint64_t kernel_max_freq() {
  Result<std::string> text = read_file("/proc/sys/kernel/perf_event_max_sample_rate");
  return text ? parse_number(trim(*text)).value_or(0) : 0;
}

/// AMD's precise cycles samples come from another unit (IBS), which cannot exclude guests and
/// refuses if asked to.
bool can_leave_guests_out() {
  Result<std::string> cpuinfo = read_file("/proc/cpuinfo");
  return !cpuinfo || cpuinfo->find("AuthenticAMD") == std::string::npos;
}

/// Samples of the CPU's cycles, as precise as the kernel allows: what is recorded without -e.
ParsedEvent default_event(Sys& sys) {
  ParsedEvent event;
  // If kernel mode is forbidden, don't even ask for it.
  event.attr.exclude_kernel = sys.geteuid() != 0 && perf_event_paranoid() > 1;
  event.attr.exclude_guest = can_leave_guests_out();
  event.name = "cycles:P";
  event.attr.type = abi::kTypeHardware;
  event.attr.config = abi::kHwCpuCycles;
  event.precise_max = true;
  return event;
}

/// Terms that recording cannot support, or that have a meaning only elsewhere: none is ignored
/// silently.
Result<> check_terms(const EventList& events, const RecordOptions& options, Env& env) {
  for (const ParsedEvent& event : events.events()) {
    if (event.terms.driver_config && event.pmu != kCoreSightPmu)
      return fail(ErrorCode::kUnsupported, "{}: @{} names a sink of CoreSight: it applies to {}",
                  event.name, *event.terms.driver_config, kCoreSightPmu);
    if (event.terms.percore)
      say(options, env, fmt::format("{}: percore adds up counts: it applies to stat", event.name));
    if (event.terms.max_events)
      say(options, env, fmt::format("{}: nr= ends a trace: it applies to trace", event.name));
  }
  return {};
}

Result<> check_kernel_unwinding(const RecordOptions& options) {
  if (options.sampling.call_graph != CallGraphMode::kBpf) return {};
  std::string why_not = why_not_walked(options);
  if (why_not.empty()) return {};
  return fail(ErrorCode::kUsage, "--call-graph bpf: {}: use --call-graph dwarf", why_not);
}

/// The kernel runs one BPF program per event, and some options are one.
Result<> check_programs(const std::vector<CaptureEvent>& events, const SamplingOptions& sampling) {
  std::string_view option = sampling.aggregation.enabled                 ? "--aggregate"
                            : sampling.call_graph == CallGraphMode::kBpf ? "--call-graph bpf"
                                                                         : "";
  if (option.empty()) return {};
  for (const CaptureEvent& event : events)
    if (event.parsed.bpf_program && event.attr().type != abi::kTypeTracepoint)
      return fail(ErrorCode::kUnsupported,
                  "{} excludes --filter and programs of your own for {}: the kernel runs one BPF "
                  "program per event",
                  option, event.parsed.name);
  return {};
}

/// Events that say nothing themselves about host and guests count what the options say.
void choose_sides(const GuestOptions& sides, EventList& list) {
  if (sides.host && !sides.guest) return;  // as they are
  for (ParsedEvent& event : list.edit()) {
    if (event.host_guest_given) continue;
    event.attr.exclude_host = !sides.host;
    event.attr.exclude_guest = !sides.guest;
  }
}

void warn_of_hidden_addresses(const RecordOptions& options, Env& env, const Capture& capture) {
  bool all_user = std::ranges::all_of(capture.events, [](const CaptureEvent& event) {
    return event.attr().exclude_kernel || event.is_dummy();
  });
  if (all_user) return;
  Result<std::string> restricted = read_file("/proc/sys/kernel/kptr_restrict");
  uint64_t level = restricted ? parse_number(trim(*restricted)).value_or(0) : 0;
  if (level == 0 || (level == 1 && env.sys.geteuid() == 0)) return;
  say(options, env,
      fmt::format("Warning:\nkernel functions will be shown by address while kernel.kptr_restrict "
                  "is {}: use sudo, or show them: sysctl kernel.kptr_restrict=0",
                  level));
}

EventOpener::Listener listener_for(const RecordOptions& options, Env& env) {
  EventOpener::Listener listener;
  listener.note = [&](std::string_view text) {
    say(options, env, fmt::format("Warning:\n{}", text));
  };
  if (options.verbose > 1)
    listener.trace = [&env](std::string_view text) {
      env.err.write_lines(fmt::format("{}\n", text));
    };
  listener.thread_vanished = [&](pid_t tid) {
    env.losses.add(LossKind::k_task_vanished, 1, fmt::format("thread {}", tid));
    say(options, env, fmt::format("WARNING: Ignored open failure for pid {}", tid));
  };
  listener.threads_missed = [&env](size_t count) {
    env.losses.add(LossKind::k_task_missed, count);
  };
  return listener;
}

}  // namespace

Result<> assign_cgroups(const std::vector<std::string>& names, Capture& capture) {
  for (size_t i = 0; i < names.size() && i < capture.events.size(); ++i) {
    if (names[i].empty()) continue;
    if (!capture.target.has_cpu())
      return fail(ErrorCode::kUsage, "-G counts what a cgroup does on CPUs: give -a or -C");
    Fd fd = TRY(open_cgroup(names[i]));
    capture.events[i].cgroup = names[i];
    capture.events[i].cgroup_fd = fd.get();
    capture.cgroups.push_back(std::move(fd));
  }
  return {};
}

Result<> apply_filters(Sys& sys, const std::vector<CaptureEvent>& events) {
  for (const CaptureEvent& event : events) {
    if (event.parsed.filter.empty()) continue;
    for (const OpenedEvent& opened : event.opened) {
      auto text = reinterpret_cast<uint64_t>(event.parsed.filter.c_str());
      SysResult<int> set = sys.ioctl(opened.fd, PERF_EVENT_IOC_SET_FILTER, text);
      if (!set)
        return fail(ErrorCode::kFailed, "failed to set filter \"{}\" on event {} with {} ({})",
                    event.parsed.filter, event.parsed.name, set.error(),
                    std::strerror(set.error()));
    }
  }
  return {};
}

std::vector<abi::EventAttr> Capture::attrs() const {
  std::vector<abi::EventAttr> all;
  for (const CaptureEvent& event : events) all.push_back(event.attr());
  return all;
}

void say(const RecordOptions& options, Env& env, std::string_view text) {
  if (options.quiet) return;
  env.err.write_lines(fmt::format("{}\n", text));
  env.err.flush();
}

/// The AUX areas, and the clock that only the kernel's control pages tell.
static Result<> map_trace(const RecordOptions& options, Env& env, Capture& capture) {
  capture.trace_rings = TRY(TraceRings::create(env.sys, *capture.trace, capture.target,
                                               capture.events.front(), *capture.rings));
  const perf_event_mmap_page& page = capture.rings->rings().front().buffer.page();
  set_trace_clock(page, *capture.trace);
  for (const std::string& warning : capture.trace->warnings)
    say(options, env, fmt::format("Warning:\n{}", warning));
  return {};
}

Result<Capture> set_up_capture(const RecordOptions& options, bool pipe_output, Env& env) {
  Capture capture;
  TRY(check_kernel_unwinding(options));
  std::vector<std::string> messages;
  EventList list = options.events;
  if (list.empty()) list.append({default_event(env.sys)});
  TargetOptions whom = TRY(filtered_by_user(options, list, env));
  capture.target = TRY(resolve_target(whom, messages));
  for (std::string& message : messages) message.insert(0, "Warning:\n");
  SamplingRate rate = TRY(settle_rate(options.sampling, kernel_max_freq(), kDefaultFreq, messages));
  for (const std::string& message : messages) say(options, env, message);

  if (options.off_cpu.enabled) list.append({off_cpu_event()});
  if (options.off_cpu.enabled && options.off_cpu.wakers) list.append({waker_event()});
  if (options.futex.enabled) list.append({futex_event()});
  TRY(check_terms(list, options, env));
  choose_sides(options.guests, list);
  std::vector<std::string> cgroups = options.cgroups;
  PmuCatalog pmus;
  capture.trace = TRY(plan_trace(options, capture.target, pmus, env.sys, list, cgroups));
  capture.guests = TRY(guest_layouts(options.guests.files));
  SamplingOptions sampling = options.sampling;
  // A thread is recorded alone: what it starts is not, unless requested.
  if (!options.target.tids.empty() && options.target.pids.empty() && !sampling.no_inherit_given)
    sampling.no_inherit = true;
  ConfigContext context{.target = capture.target,
                        .delayed = options.delay.any(),
                        .rate = rate,
                        .arch = abi::host_arch()};
  if (!whom.cpus.empty()) context.all_cpus = TRY(online_cpus());
  if (capture.trace) context.trace = capture.trace->companions;
  capture.events = configure_events(list, sampling, context);
  if (sampling.aggregation.enabled) TRY(check_aggregated(capture.events, sampling));
  TRY(check_programs(capture.events, sampling));
  TRY(assign_cgroups(cgroups, capture));

  if (!options.target.command.empty()) {
    capture.workload.emplace(TRY(Workload::fork(options.target.command, pipe_output)));
    if (capture.target.is_command()) capture.target.threads = {{capture.workload->pid(), {}}};
  }
  EventOpener opener(env.sys, capture.target, listener_for(options, env));
  TRY(opener.open(capture.events));
  warn_of_hidden_addresses(options, env, capture);
  TRY(apply_filters(env.sys, capture.events));
  if (options.made != nullptr) TRY(options.made->attach(env.sys, capture.events));
  size_t places = capture.target.per_thread
                      ? capture.target.threads.size()
                      : std::max(capture.target.cpus.size(), context.all_cpus.size());
  bool stack_copies = std::ranges::any_of(capture.events, [](const CaptureEvent& event) {
    return event.attr().samples(abi::kSampleStackUser);
  });
  capture.ring_pages = options.ring_pages;
  if (capture.ring_pages == 0)
    capture.ring_pages = default_ring_pages(places, env.sys.geteuid() == 0, stack_copies);
  capture.rings =
      TRY(RingSet::create(env.sys, capture.events, capture.ring_pages, capture.target.per_thread));
  if (capture.trace) TRY(map_trace(options, env, capture));
  return capture;
}

}  // namespace sonde
