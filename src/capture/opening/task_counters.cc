#include "capture/opening/task_counters.h"

#include <algorithm>

#include "base/sys.h"
#include "bpf/shared_counters.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/event_opener.h"
#include "capture/opening/followed_target.h"

namespace sonde {
namespace {

bool is_taken(const CountOptions& options, const CaptureEvent& event) {
  const ParsedEvent& parsed = event.parsed;
  bool asked = options.bpf_counters || parsed.bpf_counter || !options.bpf_programs.empty();
  bool is_plain = parsed.filter.empty() && event.cgroup.empty() && parsed.cpus.empty() &&
                  parsed.tool == ToolEvent::kNone && !parsed.bpf_program && !event.is_in_family;
  bool plain_terms = parsed.terms.cpus.empty() && !parsed.terms.percore &&
                     parsed.terms.inherit.value_or(!options.no_inherit) == !options.no_inherit;
  return asked && is_plain && plain_terms;
}

/// Chooses whole groups, so that none is split.
std::vector<size_t> choose(const CountOptions& options, const std::vector<CaptureEvent>& events) {
  std::vector<bool> leader_is_taken(events.size(), true);
  for (const CaptureEvent& event : events)
    if (!is_taken(options, event)) leader_is_taken[event.parsed.leader] = false;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < events.size(); ++i)
    if (leader_is_taken[events[i].parsed.leader]) chosen.push_back(i);
  return chosen;
}

/// The same event as a per-CPU counter that counts from the start, for all tasks.
CaptureEvent on_cpus(const CaptureEvent& event, size_t place) {
  CaptureEvent copy = event;
  copy.parsed.leader = static_cast<uint32_t>(place);
  abi::EventAttr& attr = copy.attr();
  attr.read_format = abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning;
  attr.inherit = attr.disabled = attr.enable_on_exec = 0;
  return copy;
}

void close_all(Sys& sys, std::vector<CaptureEvent>& events) {
  for (CaptureEvent& event : events) {
    for (const OpenedEvent& opened : event.opened) (void)sys.close(opened.fd);
    event.opened.clear();
  }
}

/// The table of counters that tools share. None if the default place is impossible: nobody asked
/// for it, and counting does not need it.
Result<std::optional<SharedCounters>> shared_counters(const CountOptions& options) {
  if (!options.bpf_programs.empty()) return std::nullopt;
  if (!options.bpf_attr_map.empty()) return TRY(SharedCounters::open(options.bpf_attr_map));
  auto shared = SharedCounters::open(SharedCounters::kDefaultPath);
  if (!shared) return std::nullopt;
  return std::move(*shared);
}

/// Whether the attr alone says what the event is: those of kprobe and uprobe PMUs contain addresses
/// of this process's memory in config1.
bool is_same_for_all(const CaptureEvent& event) {
  const abi::EventAttr& attr = event.attr();
  return attr.type <= abi::kTypeBreakpoint || (attr.config1() == 0 && attr.config2() == 0);
}

Result<Fd> map_of(const CaptureEvent& copy, std::span<const int> cpus) {
  std::vector<CpuCounter> counters;
  for (const OpenedEvent& opened : copy.opened) counters.push_back({opened.cpu, opened.fd});
  return make_counter_map(counters, cpus);
}

/// A map of counters per event: those of another tool, which are marked in `copies`, or opened
/// here.
Result<std::vector<Fd>> open_counters(const CountOptions& options, Target& target, Env& env,
                                      std::vector<CaptureEvent>& copies) {
  auto shared = TRY(shared_counters(options));
  const std::vector<int> cpus = target.cpus;
  std::vector<Fd> maps(copies.size());
  std::vector<abi::EventAttr> attrs;  // as asked for: opening may ask for less
  for (size_t i = 0; i < copies.size(); ++i) {
    attrs.push_back(copies[i].attr());
    if (shared && is_same_for_all(copies[i])) maps[i] = shared->find(attrs[i], cpus);
    copies[i].by_task_counters = maps[i].valid();
  }
  TRY(EventOpener(env.sys, target, {}, {.counting = true}).open(copies));
  for (size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].by_task_counters) continue;
    maps[i] = TRY(map_of(copies[i], cpus));
    if (shared && is_same_for_all(copies[i]) && !copies[i].is_unsupported)
      shared->add(attrs[i], maps[i]);
  }
  return maps;
}

Result<> check_attr_map(const CountOptions& options, std::span<const CaptureEvent> events) {
  bool is_asked = options.bpf_counters ||
                  std::ranges::any_of(
                      events, [](const CaptureEvent& event) { return event.parsed.bpf_counter; });
  bool may_share = is_asked && options.bpf_programs.empty() && !options.to_file;
  if (options.bpf_attr_map.empty() || may_share) return {};
  return fail(ErrorCode::kUsage,
              "--bpf-attr-map {}: only counters of --bpf-counters, and of events with the modifier "
              "b, are shared, and not for stat record",
              options.bpf_attr_map);
}

std::string_view first_line_behind_error(std::string_view message) {
  constexpr std::string_view kHead = "Error:\n";
  if (message.starts_with(kHead)) message.remove_prefix(kHead.size());
  return message.substr(0, message.find('\n'));
}

}  // namespace

Result<std::optional<TaskCounters>> TaskCounters::open(const CountOptions& options,
                                                       const Target& target,
                                                       std::vector<CaptureEvent>& events, Env& env,
                                                       std::string& said) {
  bool of_programs = !options.bpf_programs.empty();
  bool per_thread = options.target.per_thread;
  std::vector<size_t> members = choose(options, events);
  if (of_programs && members.size() != events.size())
    return fail(ErrorCode::kUsage,
                "-b: events with their own filters, cgroups or CPUs, and tool events, are "
                "not counted in BPF programs");
  TRY(check_attr_map(options, events));
  if (members.empty() || options.to_file) return std::nullopt;
  if (!of_programs && (target.has_cpu() || per_thread)) {
    said = fmt::format("{} counted as {} without a BPF program",
                       per_thread ? "Threads are" : "CPUs are", per_thread ? "such" : "a whole");
    return std::nullopt;
  }
  std::vector<CaptureEvent> copies;
  Result<Counts> counts = open_counts(options, target, events, members, env, copies);
  if (!counts) {
    close_all(env.sys, copies);
    if (of_programs || !options.bpf_attr_map.empty()) return std::unexpected(counts.error());
    said = fmt::format("{}; {} events are counted without a BPF program",
                       first_line_behind_error(counts.error().message), members.size());
    return std::nullopt;
  }
  for (size_t i = 0; i < members.size(); ++i) {
    events[members[i]].by_task_counters = true;
    events[members[i]].is_unsupported = copies[i].is_unsupported;
  }
  said = of_programs
             ? fmt::format("{} events are counted in BPF programs", members.size())
             : fmt::format("One BPF program counts {} events at switches of tasks", members.size());
  if (auto shared = std::ranges::count_if(copies, &CaptureEvent::by_task_counters))
    said += fmt::format(", {} of them with counters that another tool has opened", shared);
  return TaskCounters(std::move(*counts), std::move(members), std::move(copies));
}

Result<TaskCounters::Counts> TaskCounters::open_counts(const CountOptions& options,
                                                       const Target& target,
                                                       const std::vector<CaptureEvent>& events,
                                                       const std::vector<size_t>& members, Env& env,
                                                       std::vector<CaptureEvent>& copies) {
  if (members.size() > TaskCounts::kMaxEvents)
    return fail(ErrorCode::kUnsupported, "One BPF program counts at most {} events",
                TaskCounts::kMaxEvents);
  Target cpus;
  cpus.kind = Target::Kind::kCpus;
  cpus.cpus = target.has_cpu() ? target.cpus : TRY(online_cpus());
  cpus.threads = {{-1, {}}};
  for (size_t member : members) copies.push_back(on_cpus(events[member], copies.size()));
  std::vector<int> counted = cpus.cpus;
  std::vector<Fd> maps = TRY(open_counters(options, cpus, env, copies));
  if (!options.bpf_programs.empty()) return TRY(ProgramCounts::open(options.bpf_programs, maps));
  return TRY(TaskCounts::open(followed_tasks(target, !options.no_inherit, options.delay), maps,
                              std::move(counted)));
}

void TaskCounters::set_enabled(bool on) {
  std::visit([&](auto& counts) { counts.set_enabled(on); }, counts_);
}

void TaskCounters::catch_up() {
  if (auto* tasks = std::get_if<TaskCounts>(&counts_)) tasks->catch_up();
}

uint64_t TaskCounters::tasks_not_followed() const {
  const auto* tasks = std::get_if<TaskCounts>(&counts_);
  return tasks == nullptr ? 0 : tasks->tasks_not_followed();
}

void TaskCounters::read(size_t index, EventReadings& readings) const {
  auto place = std::ranges::find(members_, index);
  if (place == members_.end() || readings.values.empty()) return;
  auto event = static_cast<uint32_t>(place - members_.begin());
  std::vector<CpuCount> by_cpu =
      std::visit([&](const auto& counts) { return counts.by_cpu(event); }, counts_);
  bool any_cpu = readings.cpus.size() == 1 && readings.cpus[0] < 0;
  for (size_t cpu = 0; cpu < by_cpu.size(); ++cpu) {
    auto found =
        any_cpu ? readings.cpus.begin() : std::ranges::find(readings.cpus, static_cast<int>(cpu));
    if (found == readings.cpus.end()) continue;
    // Threads are not distinguished: the first one stands for all.
    auto slot = static_cast<size_t>(found - readings.cpus.begin()) * readings.threads();
    readings.values[slot].value += by_cpu[cpu].value;
    readings.values[slot].enabled_ns += by_cpu[cpu].enabled_ns;
    readings.values[slot].running_ns += by_cpu[cpu].running_ns;
  }
}

void TaskCounters::close(Sys& sys) {
  close_all(sys, on_cpus_);
}

}  // namespace sonde
