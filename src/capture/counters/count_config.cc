#include "capture/counters/count_config.h"

#include <algorithm>

#include "capture/opening/cpu_map.h"

namespace sonde {
namespace {

using abi::EventAttr;

void configure(const CountOptions& options, const Target& target, bool in_group,
               CaptureEvent& event) {
  EventAttr& attr = event.attr();
  const EventTerms& terms = event.parsed.terms;
  attr.sample_type = abi::kSampleIdentifier;
  attr.read_format = abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning;
  if (in_group) attr.read_format |= abi::kFormatId | abi::kFormatGroup;
  attr.inherit = terms.inherit.value_or(!options.no_inherit);
  if (options.all_user) {
    attr.exclude_kernel = 1;
    attr.exclude_user = 0;
  }
  if (options.all_kernel) {
    attr.exclude_kernel = 0;
    attr.exclude_user = 1;
  }
  // -C is explicit; a PMU's own CPUs are only where it is best opened.
  if (!options.target.cpus.empty() && terms.cpus.empty()) event.parsed.cpus.clear();
  if (!terms.cpus.empty()) event.parsed.cpus = terms.cpus;
  attr.disabled = 1;
  attr.enable_on_exec = target.is_command() && !options.delay.any();
}

}  // namespace

std::vector<CaptureEvent> configure_counters(const CountOptions& options, const Target& target) {
  std::vector<CaptureEvent> events;
  std::vector<size_t> group_sizes(options.events.size());
  for (const ParsedEvent& parsed : options.events.events()) {
    CaptureEvent& event = events.emplace_back();
    event.parsed = parsed;
    if (options.group_all) event.parsed.leader = 0;
    ++group_sizes[event.parsed.leader];
  }
  for (size_t i = 0; i < events.size(); ++i) {
    uint32_t leader = events[i].parsed.leader;
    configure(options, target, group_sizes[leader] > 1, events[i]);
    // Members count whenever their leader does.
    if (leader != i) events[i].attr().disabled = events[i].attr().enable_on_exec = 0;
  }
  return events;
}

Result<Target> resolve_count_target(const TargetOptions& given,
                                    std::vector<std::string>& warnings) {
  TargetOptions options = given;
  bool every_thread =
      options.per_thread && !options.has_task() && (options.all_cpus || options.command.empty());
  if (every_thread) {
    Target target;
    target.kind = Target::Kind::kTasks;
    target.per_thread = true;
    target.cpus = {-1};
    target.threads = all_threads();
    return target;
  }
  // If no CPUs are given, each task is counted on "any CPU".
  options.per_thread = options.has_task() || !options.has_cpu();
  return resolve_target(options, warnings);
}

}  // namespace sonde
