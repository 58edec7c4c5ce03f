// Measures how long threads are voluntarily off their CPUs, with the call chains of where they wait: added up per chain; long
// waits are sent individually.
#include "follow_hooks.h"
#include "measured_waits.h"
#include "off_cpu.h"

char LICENSE[] SEC("license") = "GPL";

enum { STATE_INTERRUPTIBLE = 1, STATE_UNINTERRUPTIBLE = 2, FLAG_KERNEL_THREAD = 0x00200000 };
enum { RING_BYTES = 1 << 18, ROWS = 16384 };

struct task_struct___off_cpu {
  unsigned int flags;
  unsigned int in_iowait : 1;
  struct {
    __u64 sum_exec_runtime;  // accounted whenever it leaves its CPU
  } se;
} KERNEL_TYPE;

struct off_cpu {
  struct off_cpu_key key;
  __u64 since_ns;  // 0: not off its CPU, or not voluntarily
  __u64 woken_ns;
  __u64 runtime_ns;  // when it left its CPU
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct off_cpu);
} waits SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, ROWS);
  __type(key, struct off_cpu_key);
  __type(value, struct off_cpu_sum);
} sums SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, RING_BYTES);
} long_waits SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u8 has_prev_state = 0;
const volatile __u8 with_wakers = 0;
const volatile __u64 long_ns = 0;  // waits from this length on are reported individually

static void forget_waker(struct off_cpu_key* key) {
  key->waker_pid = key->waker_tid = key->waker_is_followed = 0;
  key->waker_kernel_stack = key->waker_user_stack = -1;
  __builtin_memset(key->waker_comm, 0, sizeof(key->waker_comm));
}

/// The running task is the waker, or was interrupted by it: its stack tells.
static void note_waker(void* context, struct off_cpu_key* key) {
  __u64 both = bpf_get_current_pid_tgid();
  key->waker_pid = (__u32)(both >> 32);
  key->waker_tid = (__u32)both;
  key->waker_is_followed = is_followed();
  key->waker_kernel_stack = call_chain(context, 0);
  // The idle task has no user stack of its own, and would show the one it took over.
  if (key->waker_tid != 0) key->waker_user_stack = call_chain(context, BPF_F_USER_STACK);
  bpf_get_current_comm(key->waker_comm, sizeof(key->waker_comm));
}

static void leaves(void* context, struct task_struct* task, __u32 state, __u64 now) {
  struct task_struct___off_cpu* details = (struct task_struct___off_cpu*)task;
  // Kernel threads wait for work all the time.
  if (!(state & (STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE)) || task->pid == 0 || (details->flags & FLAG_KERNEL_THREAD)) return;
  if (!is_followed()) return;
  struct off_cpu* wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!wait) return lose(0);
  wait->key.pid = (__u32)task->tgid;
  wait->key.tid = (__u32)task->pid;
  wait->key.state = BPF_CORE_READ_BITFIELD(details, in_iowait) ? OFF_CPU_WAITS_FOR_IO
                    : state & STATE_UNINTERRUPTIBLE            ? OFF_CPU_BLOCKED
                                                               : OFF_CPU_SLEEPS;
  wait->key.kernel_stack = call_chain(context, 0);
  wait->key.user_stack = call_chain(context, BPF_F_USER_STACK);
  forget_waker(&wait->key);
  wait->runtime_ns = details->se.sum_exec_runtime;
  wait->woken_ns = 0;
  wait->since_ns = now;
}

static void describe(const struct off_cpu* wait, __u64 now, struct off_cpu_wait* out) {
  out->key = wait->key;
  out->begin_ns = wait->since_ns;
  out->end_ns = now;
  out->runnable_ns = wait->woken_ns != 0 && now > wait->woken_ns ? now - wait->woken_ns : 0;
}

static void add(const struct off_cpu_wait* wait) {
  __u64 ns = wait->end_ns - wait->begin_ns;
  struct off_cpu_key key = wait->key;
  struct off_cpu_sum* sum = bpf_map_lookup_elem(&sums, &key);
  if (!sum) {
    // A thread has only one wait at a time, so nobody else adds this row.
    struct off_cpu_sum first = {.count = 1, .total_ns = ns, .runnable_ns = wait->runnable_ns};
    if (bpf_map_update_elem(&sums, &key, &first, BPF_ANY) != 0) lose(ns);
    return;
  }
  sum->count++;
  sum->total_ns += ns;
  sum->runnable_ns += wait->runnable_ns;
}

static void end(struct off_cpu* wait, __u64 now) {
  if (enabled == FOLLOW_OFF) {
    wait->since_ns = 0;
    return;
  }
  struct off_cpu_wait done;
  if (now < wait->since_ns) now = wait->since_ns;
  describe(wait, now, &done);
  wait->since_ns = 0;
  if (now - done.begin_ns >= long_ns && bpf_ringbuf_output(&long_waits, &done, sizeof(done), BPF_RB_NO_WAKEUP) == 0) return;
  add(&done);
}

/// At the end, waits in progress are left for read_waits.
static _Bool is_over(const struct off_cpu* wait) {
  return wait->since_ns == 0 || enabled == FOLLOW_OVER;
}

static void comes(struct task_struct* task, __u64 now) {
  struct off_cpu* wait = bpf_task_storage_get(&waits, task, 0, 0);
  if (wait && !is_over(wait)) end(wait, now);
}

/// Kernels of some virtual machines do not report each switch from the idle task. The thread that leaves must have come: what it
/// has run since its wait began tells when.
static void has_come(struct task_struct* task, __u64 now) {
  struct off_cpu* wait = bpf_task_storage_get(&waits, task, 0, 0);
  if (wait && !is_over(wait)) end(wait, now - (((struct task_struct___off_cpu*)task)->se.sum_exec_runtime - wait->runtime_ns));
}

SEC("tp_btf/sched_switch")
int on_switch(__u64* context) {
  struct task_struct* previous = (struct task_struct*)context[1];
  struct task_struct* next = (struct task_struct*)context[2];
  __u64 now = bpf_ktime_get_ns();
  _Bool preempted = context[0] & 1;
  __u32 state = has_prev_state ? (__u32)context[3] : previous->__state;
  if (previous->pid != 0) has_come(previous, now);
  if (enabled == FOLLOW_ON && !preempted) leaves(context, previous, state, now);
  if (next->pid != 0) comes(next, now);
  return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64* context) {
  struct off_cpu* wait = bpf_task_storage_get(&waits, (struct task_struct*)context[0], 0, 0);
  if (!wait || wait->since_ns == 0 || wait->woken_ns != 0) return 0;
  wait->woken_ns = bpf_ktime_get_ns();
  if (with_wakers) note_waker(context, &wait->key);
  return 0;
}

/// Allocates where waiting for memory is possible; a new thread's first switch is not such a place.
SEC("tp_btf/task_newtask")
int on_new_task(__u64* context) {
  struct task_struct* task = (struct task_struct*)context[0];
  if (enabled == FOLLOW_ON && is_followed()) bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  return 0;
}

/// Emits waits in progress. The kernel may visit the same thread twice, so nothing is changed.
SEC("iter/task")
int read_waits(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  struct off_cpu* wait = bpf_task_storage_get(&waits, task, 0, 0);
  __u64 now = bpf_ktime_get_ns();
  if (!wait || wait->since_ns == 0 || now < wait->since_ns) return 0;
  struct off_cpu_wait going;
  describe(wait, now, &going);
  bpf_seq_write(context->meta->seq, &going, sizeof(going));
  return 0;
}
