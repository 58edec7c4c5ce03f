#include "bpf/work_totals.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cstring>

#include "bpf/bpf_log.h"
#include "bpf/map_entries.h"
#include "bpf/programs/work_totals.h"
#include "bpf/skeletons/work_totals.skel.h"

namespace sonde {

struct WorkTotals::State {
  explicit State(work_totals* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { work_totals__destroy(skeleton); }
  work_totals* skeleton;
};

WorkTotals::WorkTotals(std::unique_ptr<State> state) : state_(std::move(state)) {}
WorkTotals::WorkTotals(WorkTotals&&) noexcept = default;
WorkTotals& WorkTotals::operator=(WorkTotals&&) noexcept = default;
WorkTotals::~WorkTotals() = default;

namespace {

/// Loads only the programs that are needed, so that nothing else costs anything.
void choose_programs(work_totals& skeleton, const WorkTotals::Options& options) {
  skeleton.rodata->delays = options.delays;
  skeleton.rodata->by_task = options.by_task;
  bool spans = !options.delays;
  auto& programs = skeleton.progs;
  auto load = [](bpf_program* program, bool is_wanted) {
    bpf_program__set_autoload(program, is_wanted);
  };
  load(programs.on_irq, options.irq && spans);
  load(programs.after_irq, options.irq && spans);
  load(programs.on_raise, options.softirq && options.delays);
  load(programs.on_softirq, options.softirq);
  load(programs.after_softirq, options.softirq && spans);
  load(programs.on_activation, options.workqueue && options.delays);
  load(programs.on_work, options.workqueue);
  load(programs.after_work, options.workqueue && spans);
  load(programs.on_switch, options.sched && spans);
}

}  // namespace

Result<WorkTotals> WorkTotals::open(const Options& options) {
  static_assert(static_cast<int>(Class::kSched) == WORK_SCHED);
  constexpr BpfSubject kWorkMeasurer{"the BPF program that measures the kernel's work",
                                     "'kwork record' and 'kwork report' do without"};
  BpfLog log;
  auto state = std::make_unique<State>(work_totals__open());
  work_totals* skeleton = state->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kWorkMeasurer);
  choose_programs(*skeleton, options);
  if (work_totals__load(skeleton) != 0) return bpf_refused(log, "load", kWorkMeasurer);
  if (work_totals__attach(skeleton) != 0) return bpf_refused(log, "attach", kWorkMeasurer);
  return WorkTotals(std::move(state));
}

void WorkTotals::set_enabled(bool enabled) {
  __atomic_store_n(&state_->skeleton->bss->enabled, static_cast<uint8_t>(enabled),
                   __ATOMIC_RELEASE);
}

std::vector<WorkTotals::Row> WorkTotals::rows() const {
  std::vector<Row> rows;
  auto add = [&rows](const work_sum_key& key, const work_sum& sum) {
    Row& row = rows.emplace_back();
    row.work_class = static_cast<Class>(key.work_class);
    row.cpu = key.cpu;
    row.id = key.id;
    row.count = sum.count;
    row.total_ns = sum.total_ns;
    row.longest_ns = sum.longest_ns;
    row.longest_start_ns = sum.longest_start_ns;
    row.longest_end_ns = sum.longest_end_ns;
    row.name.assign(sum.name, ::strnlen(sum.name, sizeof sum.name));
    row.function = sum.function;
  };
  for_each_entry<work_sum_key, work_sum>(state_->skeleton->maps.sums, add);
  return rows;
}

uint64_t WorkTotals::lost() const {
  return __atomic_load_n(&state_->skeleton->bss->lost, __ATOMIC_RELAXED);
}

}  // namespace sonde
