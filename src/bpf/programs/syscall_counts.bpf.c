// Counts system calls by number, on their way in and out: one probe in place of a tracepoint event per call.
#include "core_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "syscall_counts.h"

char LICENSE[] SEC("license") = "GPL";

/// Counts by SYSCALL_SLOT(number, direction).
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SYSCALL_SLOTS);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

/// Threads that are counted, where not all are.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SYSCALL_TASKS);
  __type(key, __u32);
  __type(value, __u8);
} tasks SEC(".maps");

// Settings, written before the programs are attached. No _Bool: the skeleton's C++ readers have no such type.
const volatile __u8 all_tasks = 0;
const volatile __u8 inherit = 1;
const volatile __u8 enable_on_exec = 0;

// State that the counting process sees and sets at any time.
__u8 enabled = 0;
__u64 enabled_at_ns = 0;  // CLOCK_MONOTONIC
__u64 tasks_not_followed = 0;  // new threads for which `tasks` had no room

static __u32 current_tid(void) {
  return (__u32)bpf_get_current_pid_tgid();
}

static _Bool is_counted(void) {
  if (!enabled) return 0;
  if (all_tasks) return 1;
  __u32 tid = current_tid();
  return bpf_map_lookup_elem(&tasks, &tid) != 0;
}

/// The kernel's own system call tracepoints keep silent for 32-bit programs, whose numbers mean other calls.
static _Bool is_compat(void) {
  enum { kTsCompat = 2, kTif32Bit = 1 << 22 };
  struct task_struct* task = (struct task_struct*)bpf_get_current_task();
  if (bpf_core_field_exists(struct pt_regs___x86, orig_ax))
    return (BPF_CORE_READ(task, thread_info.status) & kTsCompat) != 0;
  return (BPF_CORE_READ(task, thread_info.flags) & kTif32Bit) != 0;
}

static __s64 number_in(const void* registers) {
  if (bpf_core_field_exists(struct pt_regs___x86, orig_ax))
    return (__s64)BPF_CORE_READ((const struct pt_regs___x86*)registers, orig_ax);
  return BPF_CORE_READ((const struct pt_regs___arm64*)registers, syscallno);
}

static void count(__s64 number, enum syscall_direction direction) {
  if (number < 0 || number >= SYSCALL_NUMBERS || is_compat()) return;
  __u32 slot = SYSCALL_SLOT((__u32)number, direction);
  __u64* value = bpf_map_lookup_elem(&counts, &slot);
  if (value) ++*value;
}

SEC("raw_tp/sys_enter")
int on_enter(struct bpf_raw_tracepoint_args* context) {
  if (is_counted()) count((__s64)context->args[1], SYSCALL_ENTER);
  return 0;
}

SEC("raw_tp/sys_exit")
int on_exit(struct bpf_raw_tracepoint_args* context) {
  if (is_counted()) count(number_in((const void*)context->args[0]), SYSCALL_EXIT);
  return 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args* context) {
  if (all_tasks || !inherit) return 0;
  __u32 parent = (__u32)BPF_CORE_READ((struct task_struct*)context->args[0], pid);
  __u32 child = (__u32)BPF_CORE_READ((struct task_struct*)context->args[1], pid);
  if (!bpf_map_lookup_elem(&tasks, &parent)) return 0;
  __u8 yes = 1;
  if (bpf_map_update_elem(&tasks, &child, &yes, BPF_ANY) != 0) __sync_fetch_and_add(&tasks_not_followed, 1);
  return 0;
}

SEC("raw_tp/sched_process_exit")
int on_task_exit(struct bpf_raw_tracepoint_args* context) {
  if (all_tasks) return 0;
  __u32 tid = current_tid();
  bpf_map_delete_elem(&tasks, &tid);
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  __u32 tid = current_tid();
  __u32 old_tid = (__u32)context->args[1];
  _Bool followed = all_tasks || bpf_map_lookup_elem(&tasks, &old_tid) != 0;
  if (!followed) return 0;
  // A thread that is not its process's first takes over that one's id.
  __u8 yes = 1;
  if (tid != old_tid && !all_tasks) bpf_map_update_elem(&tasks, &tid, &yes, BPF_ANY);
  if (enable_on_exec && !enabled) {
    enabled_at_ns = bpf_ktime_get_ns();
    enabled = 1;
  }
  return 0;
}
