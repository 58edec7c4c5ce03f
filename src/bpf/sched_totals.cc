#include "bpf/sched_totals.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "bpf/bpf_log.h"
#include "bpf/bpf_ring.h"
#include "bpf/iterator_bytes.h"
#include "bpf/kernel_btf.h"
#include "bpf/programs/sched_totals.h"
#include "bpf/skeletons/sched_totals.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kSumsProgram{"the BPF program that adds up what the scheduler does",
                                  "'sched record' without --summary does without"};

SchedSum sum_from(const sched_sum& kernel) {
  static_assert(SCHED_DELAY_BUCKETS == SchedSum::kBuckets);
  SchedSum sum;
  sum.pid = kernel.pid;
  sum.tid = kernel.tid;
  sum.comm.assign(kernel.comm, ::strnlen(kernel.comm, sizeof kernel.comm));
  sum.first_ns = kernel.first_ns;
  sum.last_ns = kernel.last_ns;
  sum.runtime_ns = kernel.runtime_ns;
  sum.running_ns = kernel.phase_ns[SCHED_RUNS];
  sum.runnable_ns = kernel.phase_ns[SCHED_WAITS_FOR_CPU];
  sum.sleeping_ns = kernel.phase_ns[SCHED_SLEEPS];
  sum.blocked_ns = kernel.phase_ns[SCHED_BLOCKED];
  sum.delays = kernel.delays;
  sum.delay_ns = kernel.delay_ns;
  sum.longest_ns = kernel.longest_ns;
  sum.longest_end_ns = kernel.longest_end_ns;
  std::ranges::copy(kernel.buckets, sum.buckets.begin());
  return sum;
}

}  // namespace

struct SchedTotals::State {
  explicit State(sched_totals* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { sched_totals__destroy(skeleton); }

  sched_totals* skeleton;
  std::optional<BpfRing> ended;
  std::vector<SchedSum> sums;
};

SchedTotals::SchedTotals(std::unique_ptr<State> state) : state_(std::move(state)) {}
SchedTotals::SchedTotals(SchedTotals&&) noexcept = default;
SchedTotals& SchedTotals::operator=(SchedTotals&&) noexcept = default;
SchedTotals::~SchedTotals() = default;

Result<SchedTotals> SchedTotals::open() {
  BpfLog log;
  auto state = std::make_unique<State>(sched_totals__open());
  sched_totals* skeleton = state->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kSumsProgram);
  skeleton->rodata->has_prev_state = switches_tell_state();
  if (sched_totals__load(skeleton) != 0) return bpf_refused(log, "load", kSumsProgram);
  int ring = bpf_map__fd(skeleton->maps.ended);
  state->ended.emplace(TRY(BpfRing::map(Fd(::fcntl(ring, F_DUPFD_CLOEXEC, 0)),
                                        bpf_map__max_entries(skeleton->maps.ended))));
  if (sched_totals__attach(skeleton) != 0) return bpf_refused(log, "attach", kSumsProgram);
  return SchedTotals(std::move(state));
}

void SchedTotals::start() {
  auto* shared = state_->skeleton->bss;
  shared->enabled_at_ns = monotonic_ns();
  __atomic_store_n(&shared->enabled, uint8_t{1}, __ATOMIC_RELEASE);
}

void SchedTotals::collect() {
  BpfRing& ring = *state_->ended;
  ring.look();
  for (Bytes record = ring.front(); !record.empty(); record = ring.front()) {
    sched_sum sum;
    if (record.size() >= sizeof sum) {
      std::memcpy(&sum, record.data(), sizeof sum);
      state_->sums.push_back(sum_from(sum));
    }
    ring.pop();
  }
  ring.release();
}

Result<std::vector<SchedSum>> SchedTotals::stop() {
  __atomic_store_n(&state_->skeleton->bss->enabled, uint8_t{0}, __ATOMIC_RELEASE);
  BpfLog log;
  bool is_read = read_iterator<sched_sum>(
      bpf_link__fd(state_->skeleton->links.read_sums),
      [&](const sched_sum& sum) { state_->sums.push_back(sum_from(sum)); });
  if (!is_read) return bpf_refused(log, "read the sums of", kSumsProgram);
  collect();
  std::ranges::stable_sort(state_->sums, {}, &SchedSum::last_ns);
  return std::move(state_->sums);
}

uint64_t SchedTotals::lost_threads() const {
  return __atomic_load_n(&state_->skeleton->bss->lost_sums, __ATOMIC_RELAXED);
}
uint64_t SchedTotals::lost_events() const {
  return __atomic_load_n(&state_->skeleton->bss->lost_events, __ATOMIC_RELAXED);
}

}  // namespace sonde
