#include "bpf/task_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstring>

#include "bpf/bpf_log.h"
#include "bpf/counter_programs.h"
#include "bpf/programs/cpu_counts.h"
#include "bpf/skeletons/task_counts.skel.h"

namespace sonde {

static_assert(TaskCounts::kMaxEvents == CPU_COUNT_EVENTS);

struct TaskCounts::State {
  explicit State(task_counts* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { task_counts__destroy(skeleton); }
  task_counts* skeleton;
  std::vector<int> cpus;  // that have counters
};

TaskCounts::TaskCounts(std::unique_ptr<State> state) : state_(std::move(state)) {}
TaskCounts::TaskCounts(TaskCounts&&) noexcept = default;
TaskCounts& TaskCounts::operator=(TaskCounts&&) noexcept = default;
TaskCounts::~TaskCounts() = default;

Result<TaskCounts> TaskCounts::open(const FollowedTasks& tasks, std::span<const Fd> counter_maps,
                                    std::vector<int> cpus) {
  constexpr BpfSubject kProgram{"the BPF program that counts for tasks",
                                "counters without --bpf-counters count the same"};
  BpfLog log;
  auto state = std::make_unique<State>(task_counts__open());
  task_counts* skeleton = state->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kProgram);
  if (counter_maps.size() > kMaxEvents || tasks.all) {
    errno = EINVAL;
    return bpf_refused(log, "size", kProgram);
  }
  skeleton->rodata->event_count = static_cast<uint32_t>(counter_maps.size());
  skeleton->rodata->inherit = tasks.inherit;
  skeleton->rodata->enable_on_exec = tasks.enable_on_exec;
  if (task_counts__load(skeleton) != 0) return bpf_refused(log, "load", kProgram);
  if (!put_counters(skeleton->maps.counters, counter_maps))
    return bpf_refused(log, "give counters to", kProgram);
  state->cpus = std::move(cpus);
  if (!add_threads(skeleton->maps.tasks, tasks.tids))
    return bpf_refused(log, "fill the table of threads of", kProgram);
  if (task_counts__attach(skeleton) != 0) return bpf_refused(log, "attach", kProgram);
  return TaskCounts(std::move(state));
}

void TaskCounts::set_enabled(bool enabled) {
  uint8_t& now = state_->skeleton->bss->enabled;
  // Up to here it counts as before; from here on the counters start from their current values.
  catch_up();
  __atomic_store_n(&now, static_cast<uint8_t>(enabled), __ATOMIC_RELEASE);
}

void TaskCounts::catch_up() {
  for (int cpu : state_->cpus) {
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    options.flags = BPF_F_TEST_RUN_ON_CPU;
    options.cpu = static_cast<uint32_t>(cpu);
    (void)bpf_prog_test_run_opts(bpf_program__fd(state_->skeleton->progs.read_now), &options);
  }
}

std::vector<CpuCount> TaskCounts::by_cpu(uint32_t event) const {
  return counts_by_cpu(state_->skeleton->maps.totals, event);
}

uint64_t TaskCounts::tasks_not_followed() const {
  return __atomic_load_n(&state_->skeleton->bss->tasks_not_followed, __ATOMIC_RELAXED);
}

}  // namespace sonde
