#include "bpf/off_cpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "bpf/bpf_log.h"
#include "bpf/bpf_ring.h"
#include "bpf/iterator_bytes.h"
#include "bpf/kernel_btf.h"
#include "bpf/map_entries.h"
#include "bpf/programs/off_cpu.h"
#include "bpf/skeletons/off_cpu.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kWaitMeasurer{"the BPF program that measures off-CPU waits",
                                   "'sched record' and 'sched timehist' show waits without it"};

OffCpu::State state_from(uint32_t number) {
  return number == OFF_CPU_WAITS_FOR_IO ? OffCpu::State::kWaitsForIo
         : number == OFF_CPU_BLOCKED    ? OffCpu::State::kBlocked
                                        : OffCpu::State::kSleeps;
}

}  // namespace

struct OffCpu::Programs {
  explicit Programs(off_cpu* opened) : skeleton(opened) {}
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() { off_cpu__destroy(skeleton); }

  [[nodiscard]] std::vector<uint64_t> stack(int number) const {
    return call_chain(*skeleton, number);
  }
  [[nodiscard]] Wait wait_of(const off_cpu_key& key) const {
    Wait wait;
    wait.pid = key.pid;
    wait.tid = key.tid;
    wait.state = state_from(key.state);
    wait.kernel_stack = stack(key.kernel_stack);
    wait.user_stack = stack(key.user_stack);
    if (key.waker_comm[0] != '\0')
      wait.waker =
          Waker{key.waker_pid,
                key.waker_tid,
                std::string(key.waker_comm, ::strnlen(key.waker_comm, sizeof key.waker_comm)),
                key.waker_is_followed != 0,
                stack(key.waker_kernel_stack),
                stack(key.waker_user_stack)};
    return wait;
  }
  [[nodiscard]] Wait wait_of(const off_cpu_wait& from) const {
    Wait wait = wait_of(from.key);
    wait.total_ns = from.end_ns - from.begin_ns;
    wait.runnable_ns = from.runnable_ns;
    wait.end_ns = from.end_ns;
    return wait;
  }

  off_cpu* skeleton;
  std::optional<BpfRing> ring;
  bool is_paused = false;
};

OffCpu::OffCpu(std::unique_ptr<Programs> programs) : programs_(std::move(programs)) {}
OffCpu::OffCpu(OffCpu&&) noexcept = default;
OffCpu& OffCpu::operator=(OffCpu&&) noexcept = default;
OffCpu::~OffCpu() = default;

Result<OffCpu> OffCpu::open(const Options& options) {
  BpfLog log;
  auto programs = std::make_unique<Programs>(off_cpu__open());
  off_cpu* skeleton = programs->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kWaitMeasurer);
  skeleton->rodata->has_prev_state = switches_tell_state();
  set_followed(options.tasks, *skeleton->rodata);
  skeleton->rodata->long_ns = options.long_ns;
  skeleton->rodata->with_wakers = options.with_wakers;
  if (off_cpu__load(skeleton) != 0) return bpf_refused(log, "load", kWaitMeasurer);
  if (!follow_tasks(*skeleton, options.tasks.tids))
    return bpf_refused(log, "fill the tables of", kWaitMeasurer);
  int ring = bpf_map__fd(skeleton->maps.long_waits);
  programs->ring.emplace(TRY(BpfRing::map(Fd(::fcntl(ring, F_DUPFD_CLOEXEC, 0)),
                                          bpf_map__max_entries(skeleton->maps.long_waits))));
  if (off_cpu__attach(skeleton) != 0 || !follow_begun(*skeleton, options.tasks))
    return bpf_refused(log, "attach", kWaitMeasurer);
  return OffCpu(std::move(programs));
}

void OffCpu::set(FollowPhase phase) {
  if (phase != FollowPhase::kOver) programs_->is_paused = phase == FollowPhase::kOff;
  set_phase(*programs_->skeleton, phase);
}

std::vector<OffCpu::Wait> OffCpu::long_waits() {
  std::vector<Wait> waits;
  BpfRing& ring = *programs_->ring;
  ring.look();
  for (Bytes record = ring.front(); !record.empty(); record = ring.front()) {
    off_cpu_wait wait;
    if (record.size() >= sizeof wait) {
      std::memcpy(&wait, record.data(), sizeof wait);
      waits.push_back(programs_->wait_of(wait));
    }
    ring.pop();
  }
  ring.release();
  return waits;
}

Result<std::vector<OffCpu::Wait>> OffCpu::rest() {
  std::vector<Wait> waits = long_waits();
  BpfLog log;
  // Waits in progress while measuring is off do not count.
  bool is_read = programs_->is_paused ||
                 read_iterator<off_cpu_wait>(
                     bpf_link__fd(programs_->skeleton->links.read_waits),
                     [&](const off_cpu_wait& wait) { waits.push_back(programs_->wait_of(wait)); });
  if (!is_read) return bpf_refused(log, "read the waits of", kWaitMeasurer);
  for_each_entry<off_cpu_key, off_cpu_sum>(
      programs_->skeleton->maps.sums, [&](const off_cpu_key& key, const off_cpu_sum& sum) {
        Wait& wait = waits.emplace_back(programs_->wait_of(key));
        wait.count = sum.count;
        wait.total_ns = sum.total_ns;
        wait.runnable_ns = sum.runnable_ns;
      });
  return waits;
}

LostWaits OffCpu::lost() const {
  return lost_waits(*programs_->skeleton);
}

}  // namespace sonde
