// Counts events for tasks using per-CPU counters: reads them whenever a CPU switches from one task to another, and adds the
// difference to the totals if the task that ran is one of the measured ones.
#include "cpu_counters.h"

#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

enum { TASKS = 65536 };  // that can be followed at the same time

/// Each counter's value when it was last read.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, CPU_COUNT_EVENTS);
  __type(key, __u32);
  __type(value, struct cpu_count);
} before SEC(".maps");

/// The threads to count.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, TASKS);
  __type(key, __u32);
  __type(value, __u8);
} tasks SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u8 inherit = 1;
const volatile __u8 enable_on_exec = 0;

// State that the counting process can read and write at any time.
__u8 enabled = 0;
__u64 tasks_not_followed = 0;  // new threads for which `tasks` had no room

static _Bool is_followed(__u32 tid) {
  return bpf_map_lookup_elem(&tasks, &tid) != 0;
}

static void follow(__u32 tid) {
  __u8 yes = 1;
  if (bpf_map_update_elem(&tasks, &tid, &yes, BPF_ANY) != 0) __sync_fetch_and_add(&tasks_not_followed, 1);
}

/// Reads this CPU's counters. `counts`: whether the difference since the last read belongs to the measured tasks.
static void read_counters(_Bool counts) {
  for (__u32 event = 0; event < CPU_COUNT_EVENTS; ++event) {
    if (event >= event_count) break;
    __u32 key = event;
    struct cpu_count* last = bpf_map_lookup_elem(&before, &key);
    struct cpu_count* total = bpf_map_lookup_elem(&totals, &key);
    struct bpf_perf_event_value now;
    if (!last || !total) return;
    if (!read_counter(event, &now)) continue;
    if (counts) add_since(total, last, &now);
    remember(last, &now);
  }
}

static _Bool is_dead(struct task_struct* task) {
  enum { kTaskDead = 0x80 };
  if (bpf_core_field_exists(task->__state)) return (BPF_CORE_READ(task, __state) & kTaskDead) != 0;
  return (BPF_CORE_READ((struct task_struct___before_5_14*)task, state) & kTaskDead) != 0;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args* context) {
  struct task_struct* previous = (struct task_struct*)context->args[1];
  __u32 leaves = (__u32)BPF_CORE_READ(previous, pid);
  __u32 comes = (__u32)BPF_CORE_READ((struct task_struct*)context->args[2], pid);
  _Bool counts = is_followed(leaves);
  if (enabled && (counts || is_followed(comes))) read_counters(counts);
  if (counts && is_dead(previous)) bpf_map_delete_elem(&tasks, &leaves);
  return 0;
}

/// A parent that waits for the task may read the totals before the task's last switch.
SEC("raw_tp/sched_process_exit")
int on_task_exit(struct bpf_raw_tracepoint_args* context) {
  if (enabled && is_followed((__u32)bpf_get_current_pid_tgid())) read_counters(1);
  return 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args* context) {
  if (!inherit) return 0;
  __u32 parent = (__u32)BPF_CORE_READ((struct task_struct*)context->args[0], pid);
  if (is_followed(parent)) follow((__u32)BPF_CORE_READ((struct task_struct*)context->args[1], pid));
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  __u32 old_tid = (__u32)context->args[1];
  if (!is_followed(old_tid)) return 0;
  // A thread that is not the thread group leader takes over the leader's id.
  if (tid != old_tid) follow(tid);
  if (enable_on_exec && !enabled) {
    enabled = 1;
    read_counters(0);
  }
  return 0;
}

/// Run on each CPU by the counting process: adds what the running task has accumulated so far.
SEC("raw_tp")
int read_now(struct bpf_raw_tracepoint_args* context) {
  read_counters(enabled && is_followed((__u32)bpf_get_current_pid_tgid()));
  return 0;
}
