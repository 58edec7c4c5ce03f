// Adds up what the scheduler does with each thread: how long it runs, waits for a CPU and sleeps. The sums are stored with the
// thread (task storage) and sent once, when it ends; those of living threads are read by an iterator.
#include "core_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "sched_totals.h"

char LICENSE[] SEC("license") = "GPL";

enum { RING_BYTES = 1 << 20 };
enum { STATE_UNINTERRUPTIBLE = 2, STATE_DEAD = 0x80, STATE_NO_LOAD = 0x400 };

struct task_struct___sched {
  __s32 pid;
  __s32 tgid;
  struct {
    __u64 sum_exec_runtime;
    __u64 prev_sum_exec_runtime;  // when it got its CPU
  } se;
} KERNEL_TYPE;

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct sched_sum);
} sums SEC(".maps");

/// Sums of threads that have ended.
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, RING_BYTES);
} ended SEC(".maps");

// Setting: sched_switch passes the state in which a task left (Linux 5.18 and later).
const volatile __u8 has_prev_state = 0;

// State that the loading process can read and write.
__u8 enabled = 0;
__u64 enabled_at_ns = 0;
__u64 lost_sums = 0;    // of ended threads, for which the ring had no room
__u64 lost_events = 0;  // of threads whose sums could not be allocated

static __u64 runtime_of(struct task_struct* task) {
  return ((struct task_struct___sched*)task)->se.sum_exec_runtime;
}

/// `phase`: what the thread has been doing until now, if it was not seen before.
static struct sched_sum* sum_of(struct task_struct* task, __u32 phase, __u64 now) {
  struct sched_sum* sum = bpf_task_storage_get(&sums, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!sum) {
    __sync_fetch_and_add(&lost_events, 1);
    return 0;
  }
  if (sum->first_ns != 0) return sum;
  sum->first_ns = sum->since_ns = enabled_at_ns;
  sum->runnable_ns = now;  // how long it waited before was not seen
  sum->phase = phase;
  sum->pid = (__u32)task->tgid;
  sum->tid = (__u32)task->pid;
  __u64 accounted = runtime_of(task);
  sum->accounted_ns = accounted;
  if (phase == SCHED_RUNS) {
    __u64 ran = accounted - ((struct task_struct___sched*)task)->se.prev_sum_exec_runtime;
    __u64 most = now - enabled_at_ns;
    sum->accounted_ns -= ran < most ? ran : most;
  }
  return sum;
}

static void change(struct sched_sum* sum, __u32 phase, __u64 now) {
  // The CPUs' clocks may differ slightly.
  if (now > sum->since_ns) {
    sum->phase_ns[sum->phase & (SCHED_PHASES - 1)] += now - sum->since_ns;
    sum->since_ns = now;
  }
  sum->phase = phase;
}

static __u32 bucket_of(__u64 ns) {
  __u64 us = ns / 1000;
  __u32 bucket = 0;
  for (__u32 half = 16; half > 0; half /= 2)
    if (us >> half) {
      us >>= half;
      bucket += half;
    }
  bucket += us != 0;
  return bucket < SCHED_DELAY_BUCKETS ? bucket : SCHED_DELAY_BUCKETS - 1;
}

static void count_delay(struct sched_sum* sum, __u64 now) {
  __u64 delay = now > sum->runnable_ns ? now - sum->runnable_ns : 0;
  ++sum->delays;
  sum->delay_ns += delay;
  __u32 bucket = bucket_of(delay);
  if (bucket < SCHED_DELAY_BUCKETS) ++sum->buckets[bucket];
  if (delay <= sum->longest_ns) return;
  sum->longest_ns = delay;
  sum->longest_end_ns = now;
}

static void finish(struct sched_sum* sum, struct task_struct* task) {
  sum->runtime_ns = runtime_of(task) - sum->accounted_ns;
  sum->last_ns = sum->since_ns;
  bpf_probe_read_kernel(sum->comm, sizeof(sum->comm), task->comm);
}

static void leaves(struct task_struct* task, _Bool preempted, __u32 state, __u64 now) {
  struct sched_sum* sum = sum_of(task, SCHED_RUNS, now);
  if (!sum) return;
  _Bool runnable = preempted || state == 0;
  // Idle kernel threads are uninterruptible, but marked as not contributing to load.
  _Bool blocked = (state & (STATE_UNINTERRUPTIBLE | STATE_NO_LOAD)) == STATE_UNINTERRUPTIBLE;
  change(sum, runnable ? SCHED_WAITS_FOR_CPU : blocked ? SCHED_BLOCKED : SCHED_SLEEPS, now);
  sum->runnable_ns = now;
  if (preempted || !(state & STATE_DEAD)) return;
  finish(sum, task);
  if (bpf_ringbuf_output(&ended, sum, sizeof(*sum), BPF_RB_NO_WAKEUP) != 0) __sync_fetch_and_add(&lost_sums, 1);
}

static void comes(struct task_struct* task, __u64 now) {
  struct sched_sum* sum = sum_of(task, SCHED_WAITS_FOR_CPU, now);
  if (!sum) return;
  if (sum->phase == SCHED_WAITS_FOR_CPU) count_delay(sum, now);
  change(sum, SCHED_RUNS, now);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64* context) {
  if (!enabled) return 0;
  struct task_struct* previous = (struct task_struct*)context[1];
  struct task_struct* next = (struct task_struct*)context[2];
  __u64 now = bpf_ktime_get_ns();
  if (previous->pid != 0) leaves(previous, context[0] & 1, has_prev_state ? (__u32)context[3] : previous->__state, now);
  if (next->pid != 0) comes(next, now);
  return 0;
}

static int wakes(struct task_struct* task, _Bool is_new) {
  if (!enabled || task->pid == 0) return 0;
  __u64 now = bpf_ktime_get_ns();
  struct sched_sum* sum = sum_of(task, SCHED_SLEEPS, now);
  if (!sum) return 0;
  if (is_new) sum->first_ns = sum->since_ns = now;
  // A running thread, or one on a run queue, may also be woken.
  if (sum->phase < SCHED_SLEEPS) return 0;
  change(sum, SCHED_WAITS_FOR_CPU, now);
  sum->runnable_ns = now;
  return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64* context) {
  return wakes((struct task_struct*)context[0], 0);
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64* context) {
  return wakes((struct task_struct*)context[0], 1);
}

/// Allocates where waiting for memory is possible; a new thread's first switch is not such a place.
SEC("tp_btf/task_newtask")
int on_new_task(__u64* context) {
  struct task_struct* task = (struct task_struct*)context[0];
  if (enabled) bpf_task_storage_get(&sums, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  return 0;
}

/// Emits the current sums of living threads.
SEC("iter/task")
int read_sums(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  struct sched_sum* sum = bpf_task_storage_get(&sums, task, 0, 0);
  // A thread that ended has been sent.
  if (!sum || sum->first_ns == 0 || sum->last_ns != 0) return 0;
  struct sched_sum copy = *sum;
  __u64 now = bpf_ktime_get_ns();
  change(&copy, copy.phase, now);
  finish(&copy, task);
  bpf_seq_write(context->meta->seq, &copy, sizeof(copy));
  return 0;
}
