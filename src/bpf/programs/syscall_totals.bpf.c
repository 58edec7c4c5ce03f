// Adds up finished system calls: how many there were, how long they took, how they failed, by thread (or cgroup) and call.
//
// A row is found without a hash lookup: each CPU has a few of its own, at an index that is determined by the key alone. If two
// rows collide, the old one is moved to a map shared by all CPUs. The loading process adds up both.
#define FOLLOW_ALL_BUT_SOME
#include "syscall_totals.h"
#include "traced_calls.h"

char LICENSE[] SEC("license") = "GPL";

struct open_call {
  __u64 entry_ns;
  __u16 number;
  __u8 compat;
  __u8 in_call;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct open_call);
} calls SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct total_cache);
} caches SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, TOTAL_OTHER_ROWS);
  __type(key, struct total_key);
  __type(value, struct total_row);
} others SEC(".maps");

/// pid and comm of the rows' threads.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, TOTAL_NAMES);
  __type(key, __u32);
  __type(value, struct total_name);
} names SEC(".maps");

const volatile __u32 total_by = TOTAL_BY_THREAD;

__u64 lost_count = 0;   // calls for which there was no room
__u64 other_rows = 0;   // rows moved to `others`
__u8 saw_compat_program = 0;

static void put_name(__u32 tid) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct total_name name = {.pid = task->tgid};
  bpf_probe_read_kernel(name.comm, sizeof(name.comm), task->comm);
  bpf_map_update_elem(&names, &tid, &name, BPF_ANY);
}

static void add_squares(struct total_row* row, __u64 low, __u64 high) {
  row->squares_low += low;
  row->squares_high += high + (row->squares_low < low);
}

/// From 32 bits on, the square does not fit into 64 bits: then its low half is dropped.
static void add_square_of(struct total_row* row, __u64 ns) {
  if (ns >> 32 == 0) return add_squares(row, ns * ns, 0);
  __u64 square = (ns >> 16) * (ns >> 16);
  add_squares(row, square << 32, square >> 32);
}

static void add_row(struct total_row* to, const struct total_row* from) {
  to->calls += from->calls;
  to->total_ns += from->total_ns;
  if (from->min_ns < to->min_ns) to->min_ns = from->min_ns;
  if (from->max_ns > to->max_ns) to->max_ns = from->max_ns;
  add_squares(to, from->squares_low, from->squares_high);
}

static void empty_row(struct total_row* row) {
  row->calls = 0;
  row->total_ns = 0;
  row->min_ns = ~0ull;
  row->max_ns = 0;
  row->squares_low = 0;
  row->squares_high = 0;
}

/// Makes room for a colliding row.
static void put_away(const struct total_row* row, __u32 cpu) {
  struct total_key key = {.who = row->who, .number = row->number, .compat = row->compat, .error = row->error, .cpu = cpu};
  struct total_row* other = bpf_map_lookup_elem(&others, &key);
  if (other) {
    add_row(other, row);
  } else if (bpf_map_update_elem(&others, &key, row, BPF_NOEXIST) == 0) {
    __sync_fetch_and_add(&other_rows, 1);
  } else {
    __sync_fetch_and_add(&lost_count, row->calls);
  }
}

static void account(const struct total_row* what, __u64 ns) {
  __u32 zero = 0, cpu = bpf_get_smp_processor_id();
  struct total_cache* cache = bpf_map_lookup_elem(&caches, &zero);
  // On kernels that let these programs be preempted: the previous thread here has not finished.
  if (!cache || cache->busy) {
    __sync_fetch_and_add(&lost_count, 1);
    return;
  }
  cache->busy = 1;
  __u32 place = ((__u32)what->who * 31 + what->number + what->error * 7) % TOTAL_ROWS;
  struct total_row* row = &cache->rows[place];
  _Bool same = row->who == what->who && row->number == what->number && row->compat == what->compat && row->error == what->error;
  if (!same || row->calls == 0) {
    if (row->calls != 0) put_away(row, cpu);
    row->who = what->who;
    row->number = what->number;
    row->compat = what->compat;
    row->error = what->error;
    empty_row(row);
    __u32 tid = current_tid();
    if (total_by == TOTAL_BY_THREAD && !bpf_map_lookup_elem(&names, &tid)) put_name(tid);
  }
  ++row->calls;
  row->total_ns += ns;
  if (ns < row->min_ns) row->min_ns = ns;
  if (ns > row->max_ns) row->max_ns = ns;
  add_square_of(row, ns);
  cache->busy = 0;
}

static __u64 who_calls(void) {
  if (total_by == TOTAL_BY_THREAD) return current_tid();
  return total_by == TOTAL_BY_CGROUP ? bpf_get_current_cgroup_id() : 0;
}

static int enter(__s64 number, __u32 compat) {
  if (!begins_wanted(compat, number)) return 0;
  struct open_call* call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!call) {
    __sync_fetch_and_add(&lost_count, 1);
    return 0;
  }
  call->number = (__u16)number;
  call->compat = (__u8)compat;
  call->in_call = 1;
  call->entry_ns = bpf_ktime_get_ns();
  return 0;
}

static void end_call(struct open_call* call, __s64 result, __u64 now) {
  call->in_call = 0;
  __u64 ns = now - call->entry_ns;
  if ((failed_only && !is_error(result)) || ns < min_duration_ns) return;
  struct total_row what = {
      .who = who_calls(),
      .number = call->number,
      .compat = call->compat,
      .error = is_error(result) ? (__u32)-result : 0,
  };
  account(&what, ns);
}

static int leave(__s64 result, __s64 number, __u32 compat) {
  if (!ends_wanted(compat, number)) return 0;
  __u64 now = bpf_ktime_get_ns();
  struct open_call* call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);
  if (call && call->in_call) end_call(call, result, now);
  return 0;
}

SEC("tp_btf/sys_enter")
int on_enter(const __u64* context) {
  _Bool compat = is_compat();
  if (only_compat && !compat) return 0;
  return enter((__s64)context[1], compat);
}

SEC("tp")
int on_own_enter(const struct own_tracepoint* context) {
  return enter(context->number, 0);
}

SEC("raw_tp/sched_process_exit")
int on_task_exit(struct bpf_raw_tracepoint_args* context) {
  followed_exit();
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  if (!followed_exec(context)) return 0;
  if (is_32_bit_program()) saw_compat_program = 1;
  __u32 tid = current_tid();
  if (bpf_map_lookup_elem(&names, &tid)) put_name(tid);
  struct open_call* call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);
  // From here on other programs trace the thread, which know nothing of this call.
  if (call && call->in_call && only_compat && call->compat != is_32_bit_program()) end_call(call, 0, bpf_ktime_get_ns());
  return 0;
}

SEC("tp_btf/task_rename")
int on_rename(const __u64* context) {
  struct task_struct* task = (struct task_struct*)context[0];
  __u32 tid = (__u32)task->pid;
  struct total_name* name = bpf_map_lookup_elem(&names, &tid);
  if (name) bpf_probe_read_kernel_str(name->comm, sizeof(name->comm), (const void*)context[1]);
  return 0;
}
