// Adds up how long threads wait for kernel locks: from contention_begin to contention_end of one thread and lock. Nothing is sent
// per wait.
#include "call_chains.h"
#include "follow_hooks.h"
#include "lock_waits.h"

char LICENSE[] SEC("license") = "GPL";

enum { WAITERS = 16384 };
enum { FLAG_SPIN = 1, FLAG_READ = 2, FLAG_WRITE = 4, FLAG_RT = 8, FLAG_PERCPU = 16, FLAG_MUTEX = 32 };

struct waiter {
  __u64 lock;
  __u64 thread;  // tid; idle threads, which share tid 0, by their CPU
};
struct wait {
  __u64 since_ns;
  struct lock_wait_key key;
  char comm[16];
};

/// Waits in progress.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, WAITERS);
  __type(key, struct waiter);
  __type(value, struct wait);
} waits SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, 10240);
  __type(key, struct lock_wait_key);
  __type(value, struct lock_wait_sum);
} sums SEC(".maps");

/// The locks, lock types (flags), CPUs and cgroups to measure, unless all are.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u64);
  __type(value, __u8);
} locks SEC(".maps"), types SEC(".maps"), cpus SEC(".maps"), cgroups SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u8 grouping = LOCK_BY_STACK;
const volatile __u8 some_locks = 0;
const volatile __u8 some_types = 0;
const volatile __u8 some_cpus = 0;
const volatile __u8 some_cgroups = 0;

// What there was no room for.
__u64 lost_waits = 0, lost_rows = 0;

/// The members that hold a lock's owner: the address of a task, with flags in its lowest bits.
struct mutex___kernel {
  struct {
    long counter;
  } owner;
} KERNEL_TYPE;
struct rw_semaphore___kernel {
  struct {
    long counter;
  } owner;
} KERNEL_TYPE;

static __u64 thread_key(void) {
  __u32 tid = current_tid();
  return tid != 0 ? tid : 1ull << 32 | bpf_get_smp_processor_id();
}

/// The thread that holds the lock now; -1 if unknown.
static __u64 owner_of(__u64 lock, __u32 flags, char* comm) {
  long word = 0;
  if (flags & FLAG_MUTEX)
    word = BPF_CORE_READ((struct mutex___kernel*)lock, owner.counter);
  else if ((flags & (FLAG_READ | FLAG_WRITE)) && !(flags & (FLAG_SPIN | FLAG_RT | FLAG_PERCPU)))
    word = BPF_CORE_READ((struct rw_semaphore___kernel*)lock, owner.counter);
  // A rwsem held by readers remembers only one of them: bit 0.
  if (word == 0 || (!(flags & FLAG_MUTEX) && (word & 1))) return -1ull;
  struct task_struct* task = (struct task_struct*)(word & ~7l);
  bpf_probe_read_kernel(comm, 16, &task->comm);
  return (__u32)BPF_CORE_READ(task, pid);
}

SEC("raw_tp/contention_begin")
int on_begin(struct bpf_raw_tracepoint_args* context) {
  if (enabled != FOLLOW_ON || !is_followed()) return 0;
  __u64 cpu = bpf_get_smp_processor_id(), flags = (__u32)context->args[1];
  struct waiter who = {.lock = context->args[0], .thread = thread_key()};
  if (some_locks && !bpf_map_lookup_elem(&locks, &who.lock)) return 0;
  if (some_types && !bpf_map_lookup_elem(&types, &flags)) return 0;
  if (some_cpus && !bpf_map_lookup_elem(&cpus, &cpu)) return 0;
  if (some_cgroups) {
    __u64 cgroup = bpf_get_current_cgroup_id();
    if (!bpf_map_lookup_elem(&cgroups, &cgroup)) return 0;
  }
  // A mutex reports when it begins to spin, and again when it goes to sleep: this is one wait.
  if (bpf_map_lookup_elem(&waits, &who)) return 0;
  struct wait wait = {};
  wait.key.flags = (__u32)flags;
  switch (grouping) {
    case LOCK_BY_THREAD:
      wait.key.what = current_tid();
      wait.key.flags = 0;
      break;
    case LOCK_BY_ADDRESS:
      wait.key.what = who.lock;
      break;
    case LOCK_BY_OWNER:
      wait.key.what = owner_of(who.lock, wait.key.flags, wait.comm);
      wait.key.flags = 0;
      break;
    case LOCK_BY_CGROUP:
      wait.key.what = bpf_get_current_cgroup_id();
      wait.key.flags = 0;
      break;
    default:
      wait.key.what = (__u64)call_chain(context, 0);
  }
  wait.since_ns = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&waits, &who, &wait, BPF_NOEXIST) != 0) __sync_fetch_and_add(&lost_waits, 1);
  return 0;
}

SEC("raw_tp/contention_end")
int on_end(struct bpf_raw_tracepoint_args* context) {
  struct waiter who = {.lock = context->args[0], .thread = thread_key()};
  struct wait* wait = bpf_map_lookup_elem(&waits, &who);
  if (!wait) return 0;
  __u64 waited_ns = bpf_ktime_get_ns() - wait->since_ns;
  struct lock_wait_key key = wait->key;
  struct lock_wait_sum* sum = bpf_map_lookup_elem(&sums, &key);
  if (sum) {
    sum->count++;
    sum->total_ns += waited_ns;
    if (waited_ns > sum->longest_ns) sum->longest_ns = waited_ns;
    // The row was created with zeros here by another CPU.
    if (sum->count == 1 || waited_ns < sum->shortest_ns) sum->shortest_ns = waited_ns;
    if (sum->count == 1 && grouping == LOCK_BY_THREAD) bpf_get_current_comm(sum->comm, sizeof(sum->comm));
    if (sum->count == 1 && grouping == LOCK_BY_OWNER) __builtin_memcpy(sum->comm, wait->comm, sizeof(sum->comm));
  } else {
    struct lock_wait_sum first = {.count = 1, .total_ns = waited_ns, .longest_ns = waited_ns, .shortest_ns = waited_ns};
    if (grouping == LOCK_BY_THREAD) bpf_get_current_comm(first.comm, sizeof(first.comm));
    if (grouping == LOCK_BY_OWNER) __builtin_memcpy(first.comm, wait->comm, sizeof(first.comm));
    if (bpf_map_update_elem(&sums, &key, &first, BPF_ANY) != 0) __sync_fetch_and_add(&lost_rows, 1);
  }
  bpf_map_delete_elem(&waits, &who);
  return 0;
}
