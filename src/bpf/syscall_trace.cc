#include "bpf/syscall_trace.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "bpf/bpf_log.h"
#include "bpf/map_text.h"
#include "bpf/skeletons/syscall_trace.skel.h"
#include "bpf/traced_programs.h"

namespace sonde {
namespace {

constexpr std::string_view kSenders = "the BPF program that traces system calls";

/// One ring per CPU, large enough for a reader that comes every few milliseconds; more memory would
/// only have to be cleared and would not stay in a cache.
uint64_t ring_bytes(uint64_t wanted, uint32_t rings) {
  constexpr uint64_t kRing = uint64_t{8} << 20, kAll = uint64_t{64} << 20, kMin = 64 << 10;
  uint64_t each = wanted != 0 ? wanted : std::min(kRing, kAll / rings);
  return std::bit_ceil(std::clamp(each, kMin, uint64_t{1} << 30));
}

}  // namespace

struct SyscallTrace::State {
  explicit State(syscall_trace* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    attached.links.clear();
    syscall_trace__destroy(skeleton);
  }
  syscall_trace* skeleton;
  CallLinks attached;
  std::vector<BpfRing> rings;

  Result<> add_rings(uint32_t count, uint64_t bytes);
  Result<> add_rules(std::span<const CallRules> rules);
};

SyscallTrace::SyscallTrace(std::unique_ptr<State> state) : state_(std::move(state)) {}
SyscallTrace::SyscallTrace(SyscallTrace&&) noexcept = default;
SyscallTrace& SyscallTrace::operator=(SyscallTrace&&) noexcept = default;
SyscallTrace::~SyscallTrace() = default;

Result<> SyscallTrace::State::add_rings(uint32_t count, uint64_t bytes) {
  BpfLog log;
  for (uint32_t i = 0; i < count; ++i) {
    Fd fd(
        bpf_map_create(BPF_MAP_TYPE_RINGBUF, "calls", 0, 0, static_cast<uint32_t>(bytes), nullptr));
    int number = fd.get();
    if (!fd.valid() ||
        bpf_map_update_elem(bpf_map__fd(skeleton->maps.rings), &i, &number, BPF_ANY) != 0)
      return bpf_refused(log, "make a ring buffer for", kSenders);
    rings.push_back(TRY(BpfRing::map(std::move(fd), bytes)));
  }
  return {};
}

Result<> SyscallTrace::State::add_rules(std::span<const CallRules> rules) {
  BpfLog log;
  for (const CallRules& call : rules) {
    trace_rules all{};
    uint32_t slot = TRACE_CALL_SLOT(call.compat ? 1U : 0U, call.number);
    if (call.number >= TRACED_NUMBERS) continue;
    all.descriptors = call.descriptors;
    uint8_t count = 0;
    auto add = [&](const std::vector<trace_rule>& from, uint8_t& own) {
      for (const trace_rule& rule : from) {
        if (count == TRACE_RULES) return;
        all.rules[count++] = rule;
        ++own;
      }
    };
    add(call.at_entry, all.entry_count);
    add(call.at_exit, all.exit_count);
    if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.rules), &slot, &all, BPF_ANY) != 0)
      return bpf_refused(log, "fill the table of rules of", kSenders);
  }
  return {};
}

Result<SyscallTrace> SyscallTrace::open(const TracedCalls& calls, std::span<const CallRules> rules,
                                        const Settings& settings) {
  TRY(check_limits(calls));
  auto state = std::make_unique<State>(nullptr);
  auto rings = static_cast<uint32_t>(std::clamp(libbpf_num_possible_cpus(), 1, TRACE_RINGS));
  uint64_t bytes = ring_bytes(settings.ring_bytes, rings);
  {
    BpfLog log;
    syscall_trace* skeleton = state->skeleton = syscall_trace__open();
    if (skeleton == nullptr) return bpf_refused(log, "open", kSenders);
    put_settings(calls, *skeleton->rodata);
    skeleton->rodata->ring_count = rings;
    skeleton->rodata->ring_bytes = bytes;
    skeleton->rodata->pace_bytes = settings.keep_pace ? bytes / 4 : 0;
    leave_out_unused(calls, *skeleton);
    if (syscall_trace__load(skeleton) != 0) return bpf_refused(log, "load", kSenders);
  }
  TRY(state->add_rings(rings, bytes));
  TRY(state->add_rules(rules));
  TRY(attach_traced(calls, *state->skeleton, kSenders, state->attached));
  return SyscallTrace(std::move(state));
}

void SyscallTrace::set_enabled(bool enabled) {
  put_enabled(*state_->skeleton, enabled);
}

void SyscallTrace::follow(std::span<const uint32_t> tids) {
  follow_tasks(*state_->skeleton, tids);
}

std::span<BpfRing> SyscallTrace::rings() {
  return state_->rings;
}

uint64_t SyscallTrace::lost() const {
  return __atomic_load_n(&state_->skeleton->bss->lost_count, __ATOMIC_RELAXED);
}

std::vector<SyscallTrace::Loss> SyscallTrace::losses() const {
  std::vector<Loss> found;
  int cpus = libbpf_num_possible_cpus();
  if (lost() == 0 || cpus <= 0) return found;
  std::vector<uint64_t> values(static_cast<size_t>(cpus));
  for (uint32_t slot = 0; slot < TRACE_CALL_SLOTS; ++slot) {
    if (bpf_map_lookup_elem(bpf_map__fd(state_->skeleton->maps.lost), &slot, values.data()) != 0)
      continue;
    for (int cpu = 0; cpu < cpus; ++cpu)
      if (uint64_t count = values[static_cast<size_t>(cpu)]; count != 0)
        found.push_back({cpu, slot >= TRACED_NUMBERS, slot % TRACED_NUMBERS, count});
  }
  return found;
}

uint64_t SyscallTrace::tasks_not_followed() const {
  return __atomic_load_n(&state_->skeleton->bss->tasks_not_followed, __ATOMIC_RELAXED);
}

bool SyscallTrace::has_tasks() const {
  return has_threads(state_->skeleton->maps.tasks);
}

Result<bool> SyscallTrace::include_new_compat_programs() {
  return attach_to_new_compat(*state_->skeleton, kSenders, state_->attached);
}

Result<int> SyscallTrace::map(std::string_view name) const {
  return find_map(state_->skeleton->obj, name);
}

}  // namespace sonde
