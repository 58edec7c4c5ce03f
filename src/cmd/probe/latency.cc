// `probe --latency`: how long the calls of a function take, by probes at its entry and return.
#include <elf.h>

#include <algorithm>
#include <cmath>

#include "analysis/latencies/session_latencies.h"
#include "base/blocked_signals.h"
#include "capture/control/temporary_directory.h"
#include "cmd/options/run_record.h"
#include "cmd/probe/options.h"
#include "event/print_fmt/tracefs.h"
#include "ftrace/call_times.h"
#include "probe/events/owned_probes.h"
#include "probe/requested_probe.h"

namespace sonde {
namespace {

/// The events at a function's entries and returns.
struct CallEvents {
  std::vector<TracepointName> entries, returns;
  bool has_stack_pointer = false;
};

Result<RequestedProbe> function_of(const std::string& text) {
  RequestedProbe request = TRY(parse_probe(text));
  bool is_plain = !request.function.empty() && !request.offset && !request.line &&
                  !request.at_return && request.pattern.empty() && request.arguments.empty() &&
                  request.event.empty();
  if (!is_plain)
    return fail(ErrorCode::kBadEvent,
                "--latency takes a function, FUNCTION[@SOURCE], not '{}': its entry and its return "
                "are probed",
                text);
  return request;
}

/// One event for all places of `request`.
Result<std::vector<TracepointName>> make_events(const RequestedProbe& request,
                                                const ProbedCode& code, const PlanOptions& options,
                                                bool with_stack_pointer, OwnedProbes& probes) {
  // An inlined copy has no return that a probe could see.
  PlanOptions without_copies = options;
  without_copies.no_inlines = true;
  std::vector<ProbePlan> plans = TRY(plan_probes(request, code, without_copies));
  std::vector<ProbePlace> places;
  for (ProbePlan& plan : plans) {
    if (with_stack_pointer) plan.place.arguments.emplace_back("sp=%sp:u64");
    places.push_back(std::move(plan.place));
  }
  return probes.add(plans.front().group, plans.front().event, places);
}

Result<CallEvents> make_call_events(Env& env, const ProbeOptions& options, OwnedProbes& probes) {
  RequestedProbe entry = TRY(function_of(*options.latency));
  RequestedProbe at_return = entry;
  at_return.at_return = true;
  BlockedSignals blocked;  // reading objects may start threads
  ProbedCode code = TRY(open_code(env, options.target));
  CallEvents events;
  // A call and its return have the same stack pointer, but for the return address on x86: so calls
  // find their returns even if others in between have none, as after longjmp, or where the kernel
  // does not follow (more than 64 calls deep). The kernel's own returns don't tell it reliably.
  events.has_stack_pointer = !code.in_kernel();
  events.entries = TRY(make_events(entry, code, options.plan, events.has_stack_pointer, probes));
  events.returns =
      TRY(make_events(at_return, code, options.plan, events.has_stack_pointer, probes));
  return events;
}

std::vector<std::string> names_of(const std::vector<TracepointName>& events) {
  std::vector<std::string> names;
  names.reserve(events.size());
  for (const TracepointName& event : events)
    names.push_back(fmt::format("{}:{}", event.system, event.name));
  return names;
}

std::vector<std::string> record_words(const ProbeOptions& options, const CallEvents& events,
                                      const std::string& recording) {
  std::vector<std::string> words = {"-q", "-N", "-B", "-o", recording, "-m", "4M"};
  for (const auto* side : {&events.entries, &events.returns})
    for (const std::string& name : names_of(*side)) words.insert(words.end(), {"-e", name});
  if (!options.pids.empty()) words.insert(words.end(), {"-p", options.pids});
  if (options.all_cpus) words.emplace_back("-a");
  if (!options.command.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), options.command.begin(), options.command.end());
  }
  return words;
}

PairOptions pair_of(const CallEvents& events) {
  PairOptions pair;
  pair.from = names_of(events.entries);
  pair.to = names_of(events.returns);
  pair.key = {"tid"};
  if (!events.has_stack_pointer)
    pair.nesting = EventPairing::Nesting::kCalls;
  else
#if defined(__x86_64__)
    pair.key.emplace_back("sp+8=sp");
#else
    pair.key.emplace_back("sp");
#endif
  return pair;
}

/// The value that `share` of the sorted ones do not exceed.
uint64_t percentile(const std::vector<uint64_t>& sorted, double share) {
  auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

void write_latencies(Env& env, const std::string& function, const std::vector<uint64_t>& sorted) {
  if (sorted.empty()) {
    env.err.print("{}: no call returned\n", function);
    return;
  }
  // Nanoseconds, as long as the histogram has room for them.
  constexpr uint64_t kMostNs = uint64_t{1} << 20;
  constexpr uint64_t kNsPerUs = 1000;
  TimeUnit unit = sorted.back() >= kMostNs ? TimeUnit::kMicroseconds : TimeUnit::kNanoseconds;
  CallTimes times;
  CallBuckets buckets{.unit = unit};
  for (uint64_t ns : sorted) times.add(ns, buckets);
  write_call_times(env.out, times, {.buckets = buckets, .hide_outer = true});
  for (auto [name, share] :
       {std::pair{"       p50", 0.5}, {"       p95", 0.95}, {"       p99", 0.99}})
    env.out.print("  {}: {:>20}\n", name,
                  percentile(sorted, share) / (unit == TimeUnit::kNanoseconds ? 1 : kNsPerUs));
}

void write_remarks(Env& env, const TimedValues& values) {
  auto remark = [&](uint64_t count, std::string_view one, std::string_view many,
                    std::string_view what) {
    if (count > 0) env.err.print("{} {} {}\n", count, count == 1 ? one : many, what);
  };
  remark(values.still_open + values.pairing.replaced, "call", "calls",
         "without a return: still running at the end, left by longjmp or exit, or deeper "
         "than the kernel follows");
  remark(values.pairing.ends_alone, "return", "returns",
         "without a call: it began before the recording");
  remark(values.pairing.backward, "return", "returns", "before the call left out");
  remark(values.unreadable, "sample", "samples", "could not be read");
}

}  // namespace

Result<int> measure_latency(Env& env, const ProbeOptions& options) {
  if (options.command.empty() && options.pids.empty() && !options.all_cpus)
    return fail(ErrorCode::kUsage, "  Error: --latency needs a command, or -p or --all-cpus.\n");
  if (options.target.namespace_pid != 0)
    return fail(ErrorCode::kUnsupported,
                "--latency does not enter mount namespaces: give -x /proc/{}/root/PATH instead of "
                "--target-ns",
                options.target.namespace_pid);
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  if (tracefs.path().empty())
    return fail(ErrorCode::kUnsupported,
                "tracefs is not mounted, probes are made there: mount -t tracefs nodev "
                "/sys/kernel/tracing");
  OwnedProbes probes(tracefs.path());
  CallEvents events = TRY(make_call_events(env, options, probes));
  TemporaryDirectory directory = TRY(TemporaryDirectory::make(env));
  std::string recording = directory.path() + "/perf.data";
  int status = TRY(run_record(record_words(options, events, recording), "probe --latency", env));
  SessionOptions how;
  how.want_symbols = false;
  how.chains.reset();
  Session session = TRY(Session::open(recording, how, env));
  TimedValues values = TRY(latencies_of(session, pair_of(events)));
  std::vector<uint64_t> sorted;
  sorted.reserve(values.values.size());
  for (const TimedValue& value : values.values)
    sorted.push_back(static_cast<uint64_t>(value.value));
  std::ranges::sort(sorted);
  write_latencies(env, *options.latency, sorted);
  write_remarks(env, values);
  return status;
}

}  // namespace sonde
