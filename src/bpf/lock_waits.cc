#include "bpf/lock_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bpf/bpf_log.h"
#include "bpf/map_entries.h"
#include "bpf/measured_waits.h"
#include "bpf/programs/lock_waits.h"
#include "bpf/skeletons/lock_waits.skel.h"

namespace sonde {

struct LockWaits::State {
  explicit State(lock_waits* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { lock_waits__destroy(skeleton); }
  lock_waits* skeleton;
};

LockWaits::LockWaits(std::unique_ptr<State> state) : state_(std::move(state)) {}
LockWaits::LockWaits(LockWaits&&) noexcept = default;
LockWaits& LockWaits::operator=(LockWaits&&) noexcept = default;
LockWaits::~LockWaits() = default;

namespace {

bool mark(bpf_map* map, uint64_t key) {
  uint8_t yes = 1;
  return bpf_map_update_elem(bpf_map__fd(map), &key, &yes, BPF_ANY) == 0;
}

void set_up(lock_waits& skeleton, const LockWaits::Options& options) {
  skeleton.rodata->grouping = static_cast<uint8_t>(options.by);
  set_followed(options.tasks, *skeleton.rodata);
  skeleton.rodata->some_locks = !options.locks.empty();
  skeleton.rodata->some_types = !options.types.empty();
  skeleton.rodata->some_cpus = !options.cpus.empty();
  skeleton.rodata->some_cgroups = !options.cgroups.empty();
  uint32_t rows = std::max(options.most_rows, 1u);
  bpf_map__set_max_entries(skeleton.maps.sums, rows);
  bpf_map__set_max_entries(skeleton.maps.stacks, rows);
  bpf_map__set_max_entries(skeleton.maps.spare_stacks, rows);
  auto make_room = [](bpf_map* map, size_t entries) {
    bpf_map__set_max_entries(map, std::max(1u, static_cast<uint32_t>(entries)));
  };
  make_room(skeleton.maps.locks, options.locks.size());
  make_room(skeleton.maps.types, options.types.size());
  make_room(skeleton.maps.cpus, options.cpus.size());
  make_room(skeleton.maps.cgroups, options.cgroups.size());
}

LockWaits::Row joined(const lock_wait_key& key, const std::vector<lock_wait_sum>& by_cpu) {
  LockWaits::Row row;
  row.what = key.what;
  row.flags = key.flags;
  for (const lock_wait_sum& sum : by_cpu) {
    if (sum.count == 0) continue;
    row.shortest_ns =
        row.count == 0 ? sum.shortest_ns : std::min<uint64_t>(row.shortest_ns, sum.shortest_ns);
    row.count += sum.count;
    row.total_ns += sum.total_ns;
    row.longest_ns = std::max<uint64_t>(row.longest_ns, sum.longest_ns);
    if (row.comm.empty()) row.comm.assign(sum.comm, ::strnlen(sum.comm, sizeof sum.comm));
  }
  return row;
}

}  // namespace

Result<LockWaits> LockWaits::open(const Options& options) {
  constexpr BpfSubject kProgram{"the BPF program that measures lock waits",
                                "'lock record' and 'lock contention -i' do without"};
  static_assert(static_cast<int>(By::kCgroup) == LOCK_BY_CGROUP);
  BpfLog log;
  auto state = std::make_unique<State>(lock_waits__open());
  lock_waits* skeleton = state->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kProgram);
  set_up(*skeleton, options);
  if (lock_waits__load(skeleton) != 0) return bpf_refused(log, "load", kProgram);
  bool is_filled = follow_tasks(*skeleton, options.tasks.tids);
  for (uint64_t lock : options.locks) is_filled &= mark(skeleton->maps.locks, lock);
  for (uint32_t flags : options.types) is_filled &= mark(skeleton->maps.types, flags);
  for (uint64_t cgroup : options.cgroups) is_filled &= mark(skeleton->maps.cgroups, cgroup);
  for (uint32_t cpu : options.cpus) is_filled &= mark(skeleton->maps.cpus, cpu);
  if (!is_filled) return bpf_refused(log, "fill the tables of", kProgram);
  if (lock_waits__attach(skeleton) != 0 || !follow_begun(*skeleton, options.tasks))
    return bpf_refused(log, "attach", kProgram);
  return LockWaits(std::move(state));
}

void LockWaits::set_enabled(bool enabled) {
  set_phase(*state_->skeleton, enabled ? FollowPhase::kOn : FollowPhase::kOver);
}

std::vector<LockWaits::Row> LockWaits::rows() const {
  std::vector<Row> rows;
  int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return rows;
  std::vector<lock_wait_sum> by_cpu(static_cast<size_t>(cpus));
  auto add = [&](const lock_wait_key& key) {
    Row& row = rows.emplace_back(joined(key, by_cpu));
    if (state_->skeleton->rodata->grouping == LOCK_BY_STACK)
      row.stack = call_chain(*state_->skeleton, static_cast<int>(key.what));
  };
  for_each_entry<lock_wait_key>(state_->skeleton->maps.sums, by_cpu.data(), add);
  return rows;
}

LockWaits::Lost LockWaits::lost() const {
  const auto* counters = state_->skeleton->bss;
  return {counters->lost_waits, counters->lost_stacks, counters->lost_rows};
}

}  // namespace sonde
