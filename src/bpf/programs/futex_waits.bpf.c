// Adds up how long threads sleep in futex(2) and related calls, by thread, futex and user call chain. A call that finds the futex
// changed, or is woken before it sleeps, is not a wait: the thread's count of voluntary switches tells.
#include "followed_tasks.h"
#include "futex_waits.h"
#include "measured_waits.h"

char LICENSE[] SEC("license") = "GPL";

// include/uapi/linux/futex.h
enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, OPERATION_MASK = 0x7f, TID_MASK = 0x3fffffff };
// A glibc mutex sleeps while its word is 2, and has its owner 8 bytes after the word (sysdeps/nptl/bits/struct_mutex.h).
enum { MUTEX_HAS_WAITERS = 2, MUTEX_OWNER_OFFSET = 8 };
enum { ERROR_INTERRUPTED = 4, ERROR_TIMED_OUT = 110, ERROR_RESTART_FIRST = 512, ERROR_RESTART_LAST = 516 };

struct task_struct___switches {
  unsigned long nvcsw;
} KERNEL_TYPE;

/// Contexts of the system call tracepoints: the common header, then their own fields.
struct enter_context {
  __u64 head;
  __u64 number;
  __u64 arguments[6];
};
struct exit_context {
  __u64 head;
  __u64 number;
  long result;
};

struct futex_wait {
  struct futex_wait_key key;
  __u64 since_ns;  // 0: not waiting
  __u64 switches;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct futex_wait);
} waits SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, struct futex_wait_key);
  __type(value, struct futex_wait_sum);
} sums SEC(".maps");

static __u32 owner_of(__u32 operation, __u64 word, __u64 expected) {
  __u32 owner = 0;
  _Bool inherits = operation == LOCK_PI || operation == LOCK_PI2;
  if (inherits && bpf_probe_read_user(&owner, sizeof(owner), (void*)word) == 0) return owner & TID_MASK;
  if (operation != WAIT || (__u32)expected != MUTEX_HAS_WAITERS) return 0;
  return bpf_probe_read_user(&owner, sizeof(owner), (void*)(word + MUTEX_OWNER_OFFSET)) == 0 ? owner : 0;
}

static void begin(void* context, __u32 operation, __u64 word, __u64 expected) {
  if (enabled != FOLLOW_ON || !is_followed()) return;
  struct task_struct* task = bpf_get_current_task_btf();
  struct futex_wait* wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!wait) return lose(0);
  __u64 both = bpf_get_current_pid_tgid();
  wait->key.word = word;
  wait->key.pid = (__u32)(both >> 32);
  wait->key.tid = (__u32)both;
  wait->key.operation = operation;
  wait->key.owner = owner_of(operation, word, expected);
  wait->key.stack = call_chain(context, BPF_F_USER_STACK);
  wait->switches = ((struct task_struct___switches*)task)->nvcsw;
  wait->since_ns = bpf_ktime_get_ns();
}

static void add(const struct futex_wait_key* wanted, __u64 ns) {
  struct futex_wait_key key = *wanted;
  struct futex_wait_sum* sum = bpf_map_lookup_elem(&sums, &key);
  if (!sum) {
    // A thread has only one wait at a time, so nobody else adds this row.
    struct futex_wait_sum first = {.count = 1, .total_ns = ns, .longest_ns = ns, .shortest_ns = ns};
    if (bpf_map_update_elem(&sums, &key, &first, BPF_ANY) != 0) lose(ns);
    return;
  }
  sum->count++;
  sum->total_ns += ns;
  if (ns > sum->longest_ns) sum->longest_ns = ns;
  if (ns < sum->shortest_ns) sum->shortest_ns = ns;
}

static void end(long result) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct futex_wait* wait = bpf_task_storage_get(&waits, task, 0, 0);
  // At the end, waits in progress are left for read_waits.
  if (!wait || wait->since_ns == 0 || enabled == FOLLOW_OVER) return;
  __u64 since = wait->since_ns;
  wait->since_ns = 0;
  if (enabled == FOLLOW_OFF || wait->switches == ((struct task_struct___switches*)task)->nvcsw) return;
  if (result >= 0)
    wait->key.outcome = FUTEX_WOKEN;
  else if (result == -ERROR_TIMED_OUT)
    wait->key.outcome = FUTEX_TIMED_OUT;
  else if (result == -ERROR_INTERRUPTED || (result <= -ERROR_RESTART_FIRST && result >= -ERROR_RESTART_LAST))
    wait->key.outcome = FUTEX_INTERRUPTED;
  else
    return;
  __u64 now = bpf_ktime_get_ns();
  add(&wait->key, now > since ? now - since : 0);
}

SEC("tp/syscalls/sys_enter_futex")
int on_futex(struct enter_context* context) {
  __u32 operation = (__u32)context->arguments[1] & OPERATION_MASK;
  if (operation == WAIT || operation == WAIT_BITSET || operation == LOCK_PI || operation == LOCK_PI2 || operation == WAIT_REQUEUE_PI)
    begin(context, operation, context->arguments[0], context->arguments[2]);
  return 0;
}
SEC("tp/syscalls/sys_enter_futex_wait")
int on_futex_wait(struct enter_context* context) {
  begin(context, WAIT_BITSET, context->arguments[0], 0);
  return 0;
}
SEC("tp/syscalls/sys_enter_futex_waitv")
int on_futex_waitv(struct enter_context* context) {
  begin(context, WAIT_BITSET, 0, 0);
  return 0;
}

SEC("tp/syscalls/sys_exit_futex")
int after_futex(struct exit_context* context) {
  end(context->result);
  return 0;
}
SEC("tp/syscalls/sys_exit_futex_wait")
int after_futex_wait(struct exit_context* context) {
  end(context->result);
  return 0;
}
SEC("tp/syscalls/sys_exit_futex_waitv")
int after_futex_waitv(struct exit_context* context) {
  end(context->result);
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  followed_exec(context);
  return 0;
}

/// A thread that is killed does not return from its call.
SEC("raw_tp/sched_process_exit")
int on_task_exit(struct bpf_raw_tracepoint_args* context) {
  struct futex_wait* wait = bpf_task_storage_get(&waits, bpf_get_current_task_btf(), 0, 0);
  if (wait && wait->since_ns != 0 && enabled == FOLLOW_ON) {
    wait->key.outcome = FUTEX_LASTS;
    add(&wait->key, bpf_ktime_get_ns() - wait->since_ns);
    wait->since_ns = 0;
  }
  followed_exit();
  return 0;
}

/// Emits waits in progress. The kernel may visit the same thread twice, so nothing is changed.
SEC("iter/task")
int read_waits(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  struct futex_wait* wait = bpf_task_storage_get(&waits, task, 0, 0);
  __u64 now = bpf_ktime_get_ns();
  if (!wait || wait->since_ns == 0 || now < wait->since_ns) return 0;
  struct futex_wait_going going = {.key = wait->key, .ns = now - wait->since_ns};
  going.key.outcome = FUTEX_LASTS;
  bpf_seq_write(context->meta->seq, &going, sizeof(going));
  return 0;
}
