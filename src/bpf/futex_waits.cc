#include "bpf/futex_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>

#include "bpf/bpf_log.h"
#include "bpf/iterator_bytes.h"
#include "bpf/map_entries.h"
#include "bpf/programs/futex_waits.h"
#include "bpf/skeletons/futex_waits.skel.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {
namespace {

constexpr BpfSubject kFutexMeasurer{"the BPF program that measures futex(2) waits",
                                    "'trace -s -e futex' measures the system calls"};

/// Only newer kernels have these calls.
void leave_out_missing(futex_waits& skeleton) {
  Tracefs tracefs;
  auto choose = [&](bpf_program* program, const char* call) {
    std::string path = tracefs.path() + "/events/syscalls/" + call;
    bpf_program__set_autoload(program, ::access(path.c_str(), F_OK) == 0);
  };
  choose(skeleton.progs.on_futex_wait, "sys_enter_futex_wait");
  choose(skeleton.progs.after_futex_wait, "sys_exit_futex_wait");
  choose(skeleton.progs.on_futex_waitv, "sys_enter_futex_waitv");
  choose(skeleton.progs.after_futex_waitv, "sys_exit_futex_waitv");
}

}  // namespace

struct FutexWaits::Programs {
  explicit Programs(futex_waits* opened) : skeleton(opened) {}
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() { futex_waits__destroy(skeleton); }

  [[nodiscard]] Row row_of(const futex_wait_key& key, const futex_wait_sum& sum) const {
    Row row;
    row.pid = key.pid;
    row.tid = key.tid;
    row.word = key.word;
    row.operation = key.operation;
    row.owner = key.owner;
    row.outcome = static_cast<Outcome>(key.outcome);
    row.count = sum.count;
    row.total_ns = sum.total_ns;
    row.longest_ns = sum.longest_ns;
    row.shortest_ns = sum.shortest_ns;
    row.user_stack = call_chain(*skeleton, key.stack);
    return row;
  }

  futex_waits* skeleton;
  bool is_paused = false;
};

FutexWaits::FutexWaits(std::unique_ptr<Programs> programs) : programs_(std::move(programs)) {}
FutexWaits::FutexWaits(FutexWaits&&) noexcept = default;
FutexWaits& FutexWaits::operator=(FutexWaits&&) noexcept = default;
FutexWaits::~FutexWaits() = default;

Result<FutexWaits> FutexWaits::open(const Options& options) {
  static_assert(static_cast<int>(Outcome::kLasts) == FUTEX_LASTS);
  BpfLog log;
  auto programs = std::make_unique<Programs>(futex_waits__open());
  futex_waits* skeleton = programs->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kFutexMeasurer);
  set_followed(options.tasks, *skeleton->rodata);
  bpf_map__set_max_entries(skeleton->maps.sums, std::max(options.most_rows, 1u));
  leave_out_missing(*skeleton);
  if (futex_waits__load(skeleton) != 0) return bpf_refused(log, "load", kFutexMeasurer);
  if (!follow_tasks(*skeleton, options.tasks.tids))
    return bpf_refused(log, "fill the tables of", kFutexMeasurer);
  if (futex_waits__attach(skeleton) != 0 || !follow_begun(*skeleton, options.tasks))
    return bpf_refused(log, "attach", kFutexMeasurer);
  return FutexWaits(std::move(programs));
}

void FutexWaits::set(FollowPhase phase) {
  if (phase != FollowPhase::kOver) programs_->is_paused = phase == FollowPhase::kOff;
  set_phase(*programs_->skeleton, phase);
}

Result<std::vector<FutexWaits::Row>> FutexWaits::rows() {
  std::vector<Row> rows;
  BpfLog log;
  // Waits in progress while measuring is off do not count.
  bool is_read =
      programs_->is_paused ||
      read_iterator<futex_wait_going>(
          bpf_link__fd(programs_->skeleton->links.read_waits), [&](const futex_wait_going& wait) {
            rows.push_back(programs_->row_of(wait.key, {1, wait.ns, wait.ns, wait.ns}));
          });
  if (!is_read) return bpf_refused(log, "read the waits of", kFutexMeasurer);
  for_each_entry<futex_wait_key, futex_wait_sum>(
      programs_->skeleton->maps.sums, [&](const futex_wait_key& key, const futex_wait_sum& sum) {
        rows.push_back(programs_->row_of(key, sum));
      });
  return rows;
}

LostWaits FutexWaits::lost() const {
  return lost_waits(*programs_->skeleton);
}

}  // namespace sonde
