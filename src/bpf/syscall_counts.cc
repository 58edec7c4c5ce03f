#include "bpf/syscall_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "bpf/bpf_log.h"
#include "bpf/programs/syscall_counts.h"
#include "bpf/skeletons/syscall_counts.skel.h"

namespace sonde {

static_assert(SyscallCounts::kNumbers == SYSCALL_NUMBERS);

struct SyscallCounts::State {
  explicit State(syscall_counts* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { syscall_counts__destroy(skeleton); }
  syscall_counts* skeleton;
  uint64_t enabled_before_ns = 0;  // in earlier periods

  [[nodiscard]] uint64_t this_period_ns() const {
    uint64_t since = __atomic_load_n(&skeleton->bss->enabled_at_ns, __ATOMIC_RELAXED);
    return __atomic_load_n(&skeleton->bss->enabled, __ATOMIC_RELAXED) != 0 ? monotonic_ns() - since
                                                                           : 0;
  }
};

SyscallCounts::SyscallCounts(std::unique_ptr<State> state) : state_(std::move(state)) {}
SyscallCounts::SyscallCounts(SyscallCounts&&) noexcept = default;
SyscallCounts& SyscallCounts::operator=(SyscallCounts&&) noexcept = default;
SyscallCounts::~SyscallCounts() = default;

Result<SyscallCounts> SyscallCounts::open(const Scope& scope) {
  constexpr std::string_view kProgram = "the BPF program that counts system calls";
  BpfLog log;
  auto state = std::make_unique<State>(syscall_counts__open());
  syscall_counts* skeleton = state->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kProgram);
  set_followed(scope.tasks, *skeleton->rodata);
  bpf_program__set_autoload(skeleton->progs.on_enter, scope.enter);
  bpf_program__set_autoload(skeleton->progs.on_exit, scope.exit);
  if (syscall_counts__load(skeleton) != 0) return bpf_refused(log, "load", kProgram);
  if (!follow_tasks(*skeleton, scope.tasks.tids))
    return bpf_refused(log, "fill the table of threads of", kProgram);
  if (syscall_counts__attach(skeleton) != 0 || !follow_begun(*skeleton, scope.tasks))
    return bpf_refused(log, "attach", kProgram);
  return SyscallCounts(std::move(state));
}

void SyscallCounts::set_enabled(bool enabled) {
  auto* shared = state_->skeleton->bss;
  if (enabled == (__atomic_load_n(&shared->enabled, __ATOMIC_RELAXED) != 0)) return;
  if (enabled)
    __atomic_store_n(&shared->enabled_at_ns, monotonic_ns(), __ATOMIC_RELAXED);
  else
    state_->enabled_before_ns += state_->this_period_ns();
  set_phase(*state_->skeleton, enabled ? FollowPhase::kOn : FollowPhase::kOff);
}

uint64_t SyscallCounts::enabled_ns() const {
  return state_->enabled_before_ns + state_->this_period_ns();
}

std::vector<uint64_t> SyscallCounts::by_cpu(uint32_t number, Direction direction) const {
  int cpus = libbpf_num_possible_cpus();
  std::vector<uint64_t> values(cpus > 0 ? static_cast<size_t>(cpus) : 0);
  uint32_t slot = SYSCALL_SLOT(number, static_cast<uint32_t>(direction));
  if (number >= kNumbers || values.empty()) return values;
  if (bpf_map_lookup_elem(bpf_map__fd(state_->skeleton->maps.counts), &slot, values.data()) != 0)
    std::ranges::fill(values, 0);
  return values;
}

uint64_t SyscallCounts::tasks_not_followed() const {
  return __atomic_load_n(&state_->skeleton->bss->tasks_not_followed, __ATOMIC_RELAXED);
}

}  // namespace sonde
