#include "capture/recorders/user_filter.h"

#include <algorithm>
#include <map>

#include "capture/opening/owned_events.h"
#include "capture/opening/thread_map.h"
#include "capture/recorders/capture_setup.h"
#include "event/pmu/trace_pmu.h"

namespace sonde {
namespace {

bool is_wanted(const TargetOptions& target) {
  return target.user_later && !target.user.empty() && target.pids.empty() && target.tids.empty();
}

/// What is recorded by threads, or has the place of the program; empty: nothing.
std::string_view option_in_the_way(const RecordOptions& options) {
  const SamplingOptions& sampling = options.sampling;
  return sampling.aggregation.enabled                 ? "with --aggregate"
         : sampling.call_graph == CallGraphMode::kBpf ? "with --call-graph bpf"
         : options.off_cpu.enabled                    ? "with --off-cpu"
         : options.futex.enabled                      ? "with --futex"
         : sampling.switch_events                     ? "with context switches (--latency)"
         : options.target.per_thread                  ? "with --per-thread"
         : options.made == nullptr                    ? "here"
                                                      : "";
}

std::string event_in_the_way(const EventList& events, const OwnedEvents& made) {
  for (const ParsedEvent& event : events.events()) {
    bool has_own = event.bpf_program && !made.is_sample_filter(*event.bpf_program);
    bool others_filter = event.attr.type == abi::kTypeTracepoint || event.filters_addresses ||
                         has_own || is_trace_event(event);
    if (others_filter) return event.name;
  }
  return {};
}

Result<> add_filters(OwnedEvents& made, const std::string& text, EventList& events) {
  std::optional<uint32_t> program;
  std::vector<uint32_t> narrowed;
  for (ParsedEvent& event : events.edit()) {
    if (!event.bpf_program) {
      if (!program) program = TRY(made.make_sample_filter(text));
      event.bpf_program = program;
    } else if (std::ranges::find(narrowed, *event.bpf_program) == narrowed.end() &&
               event.bpf_program != program) {
      TRY(made.narrow_sample_filter(*event.bpf_program, text));
      narrowed.push_back(*event.bpf_program);
    }
  }
  return {};
}

}  // namespace

Result<TargetOptions> filtered_by_user(const RecordOptions& options, EventList& events, Env& env) {
  if (!is_wanted(options.target)) return options.target;
  uid_t user = TRY(user_id(options.target.user));
  auto only_now = [&](std::string_view why) {
    say(options, env,
        fmt::format("-u {}: only what the user runs now is recorded, and what that starts: {}",
                    options.target.user, why));
    return options.target;
  };
  if (std::string_view option = option_in_the_way(options); !option.empty())
    return only_now(fmt::format("{}, samples cannot be filtered by user", option));
  if (std::string event = event_in_the_way(events, *options.made); !event.empty())
    return only_now(fmt::format("samples of {} cannot be filtered by user", event));
  if (Result<> added = add_filters(*options.made, fmt::format("uid == {}", user), events); !added)
    return only_now(added.error().message);
  TargetOptions all = options.target;
  all.user.clear();
  all.all_cpus = all.cpus.empty();
  return all;
}

}  // namespace sonde
