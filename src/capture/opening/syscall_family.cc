#include "capture/opening/syscall_family.h"

#include <algorithm>
#include <numeric>

#include "abi/syscalls.h"
#include "capture/opening/followed_target.h"

namespace sonde {
namespace {

/// Fewer events are opened faster than a BPF program is loaded.
constexpr size_t kFewest = 4;

struct Member {
  uint32_t number;
  SyscallCounts::Direction direction;
};

std::optional<Member> member_of(const TracepointName& tracepoint) {
  constexpr std::string_view kEnter = "sys_enter_", kExit = "sys_exit_";
  if (tracepoint.system != "syscalls") return std::nullopt;
  std::string_view name = tracepoint.name;
  bool enters = name.starts_with(kEnter);
  if (!enters && !name.starts_with(kExit)) return std::nullopt;
  name.remove_prefix(enters ? kEnter.size() : kExit.size());
  std::optional<uint32_t> number = abi::syscall_of_tracepoint(name);
  if (!number || *number >= SyscallCounts::kNumbers) return std::nullopt;
  return Member{*number, enters ? SyscallCounts::kEnter : SyscallCounts::kExit};
}

bool counts_all(const CountOptions& options, const CaptureEvent& event) {
  const ParsedEvent& parsed = event.parsed;
  const EventTerms& terms = parsed.terms;
  bool plain = parsed.filter.empty() && event.cgroup.empty() && !parsed.exclude_given &&
               !parsed.bpf_counter && parsed.cpus.empty();
  bool plain_terms = terms.cpus.empty() && !terms.percore &&
                     terms.inherit.value_or(!options.no_inherit) == !options.no_inherit;
  return plain && plain_terms && !parsed.bpf_program && member_of(parsed.tracepoint).has_value();
}

/// Indices of the events that are in no group and can be in a family.
std::vector<size_t> candidates(const CountOptions& options,
                               const std::vector<CaptureEvent>& events) {
  std::vector<size_t> group_sizes(events.size());
  for (const CaptureEvent& event : events) ++group_sizes[event.parsed.leader];
  std::vector<size_t> found;
  for (size_t i = 0; i < events.size(); ++i)
    if (group_sizes[i] == 1 && events[i].parsed.leader == i && counts_all(options, events[i]))
      found.push_back(i);
  return found;
}

/// Options that need a counter per event, or that count less than everything the target does.
bool needs_events(const CountOptions& options) {
  return options.to_file || !options.bpf_programs.empty() || options.control.any() ||
         options.all_user || options.all_kernel || options.target.per_thread ||
         !options.cgroups.empty();
}

}  // namespace

std::optional<SyscallFamily> SyscallFamily::open(const CountOptions& options, const Target& target,
                                                 std::vector<CaptureEvent>& events,
                                                 std::string& said) {
  if (needs_events(options)) return std::nullopt;
  std::vector<size_t> members = candidates(options, events);
  if (members.size() < kFewest) return std::nullopt;
  SyscallCounts::Scope scope{.tasks = followed_tasks(target, !options.no_inherit, options.delay)};
  auto wants = [&](SyscallCounts::Direction direction) {
    return std::ranges::any_of(members, [&](size_t member) {
      return member_of(events[member].parsed.tracepoint)->direction == direction;
    });
  };
  scope.enter = wants(SyscallCounts::kEnter);
  scope.exit = wants(SyscallCounts::kExit);
  Result<SyscallCounts> counts = SyscallCounts::open(scope);
  if (!counts) {
    said = fmt::format("{}; {} events are opened instead", counts.error().message, members.size());
    return std::nullopt;
  }
  for (size_t member : members) events[member].is_in_family = true;
  said = fmt::format("One BPF program counts {} system call events", members.size());
  return SyscallFamily(std::move(*counts));
}

void SyscallFamily::read(const CaptureEvent& event, uint64_t time_ns,
                         EventReadings& readings) const {
  std::optional<Member> member = member_of(event.parsed.tracepoint);
  if (!member || readings.values.empty()) return;
  std::vector<uint64_t> by_cpu = counts_.by_cpu(member->number, member->direction);
  for (size_t i = 0; i < readings.cpus.size(); ++i) {
    int cpu = readings.cpus[i];
    uint64_t value = 0;
    if (cpu < 0)
      value = std::accumulate(by_cpu.begin(), by_cpu.end(), uint64_t{0});
    else if (static_cast<size_t>(cpu) < by_cpu.size())
      value = by_cpu[static_cast<size_t>(cpu)];
    // Threads are not distinguished: the CPU's first one stands for all.
    readings.values[i * readings.threads()] = {value, time_ns, time_ns};
  }
}

}  // namespace sonde
