// Sends each finished system call as one record: its arguments, its result, and the memory that its arguments point to. A call
// that puts its thread to sleep is also sent at that point, so that the reader can show calls in progress.
//
//   sys_enter     time and arguments into the thread's task storage: nothing is sent
//   sched_switch  the thread sleeps in a call: what is known so far
//   sys_exit      everything
#define FOLLOW_ALL_BUT_SOME
#include "traced_calls.h"
#include "traced_memory.h"
#include "traced_files.h"

char LICENSE[] SEC("license") = "GPL";

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct pending_call);
} calls SEC(".maps");

struct ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
};

/// A ring per CPU, up to TRACE_RINGS; the loader chooses their size.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, TRACE_RINGS);
  __type(key, __u32);
  __array(values, struct ring);
} rings SEC(".maps");

/// Records for which there was no room, by TRACE_CALL_SLOT.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, TRACE_CALL_SLOTS);
  __type(key, __u32);
  __type(value, __u64);
} lost SEC(".maps");

const volatile __u32 ring_count = 1;
const volatile __u64 ring_bytes = 4096;
/// If a ring holds more than this, a call waits a moment for the reader; 0: never.
const volatile __u64 pace_bytes = 0;

enum { PACE_CALLS = 4, PACE_NS = 60000, PACE_STEPS = 2048 };

__u64 lost_count = 0;
/// A 32-bit program was started (individual calls' tracepoints do not cover its calls).
__u8 saw_compat_program = 0;

static void count_loss(const struct trace_record* record) {
  __u32 slot = TRACE_CALL_SLOT(record->compat & 1, record->number);
  __u64* count = bpf_map_lookup_elem(&lost, &slot);
  if (count) ++*count;
  __sync_fetch_and_add(&lost_count, 1);
}

static void* own_ring(void) {
  __u32 index = bpf_get_smp_processor_id() % ring_count;
  return bpf_map_lookup_elem(&rings, &index);
}

static void send(struct pending_call* call) {
  void* ring = own_ring();
  __u32 size = call->memory_size;
  if (size > TRACE_MEMORY_BYTES) size = TRACE_MEMORY_BYTES;
  call->record.cpu = bpf_get_smp_processor_id();
  if (!ring || bpf_ringbuf_output(ring, call, sizeof(call->record) + size, BPF_RB_NO_WAKEUP) != 0)
    count_loss(&call->record);
  else
    call->files_unsent = 0;
}

/// The reader is behind: a thread that makes calls faster than they can be read is delayed for a few microseconds per call,
/// before records are lost. The less room is left, the longer the delay. Checked only at every fourth call, because the query has
/// its cost.
static void keep_pace(struct pending_call* call) {
  if (pace_bytes == 0 || ++call->calls_since_pace < PACE_CALLS) return;
  call->calls_since_pace = 0;
  void* ring = own_ring();
  __u64 fill = ring ? bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) : 0;
  if (fill < pace_bytes) return;
  __u64 until = bpf_ktime_get_ns() + (fill - pace_bytes) * PACE_NS / ring_bytes;
  for (__u32 i = 0; i < PACE_STEPS; ++i)
    if (bpf_ktime_get_ns() >= until) return;
}

static void fill_comm(struct trace_record* record, struct task_struct* task) {
  bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
}

static struct pending_call* begin_call(__u32 compat, __u32 number) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct pending_call* call = bpf_task_storage_get(&calls, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!call) return 0;
  __u64 pid_tgid = bpf_get_current_pid_tgid();
  call->record.flags = TRACE_HAS_ENTRY;
  call->record.compat = (__u8)compat;
  call->record.number = (__u16)number;
  call->record.pid = (__s32)(pid_tgid >> 32);
  call->record.tid = (__s32)pid_tgid;
  if (call->record.comm[0] == 0) fill_comm(&call->record, task);
  call->memory_size = 0;
  call->files_size = 0;
  call->faulted = 0;
  call->rules_at_exit = 0;
  call->in_call = 1;
  return call;
}

/// To be called when the arguments are in place.
static void finish_entry(struct pending_call* call) {
  __u32 slot = TRACE_CALL_SLOT(call->record.compat & 1, call->record.number);
  const struct trace_rules* all = bpf_map_lookup_elem(&rules, &slot);
  if (all) {
    add_files(call, all->descriptors);
    read_at_entry(call, all);
    call->rules_at_exit = all->exit_count != 0;
  }
  call->record.entry_ns = bpf_ktime_get_ns();
}

/// No task storage available: the call is lost.
static void lose_call(__u32 compat, __u32 number) {
  struct trace_record record = {.compat = (__u8)compat, .number = (__u16)number};
  count_loss(&record);
}

static _Bool is_wanted_result(const struct trace_record* record, __s64 result) {
  if (failed_only && !is_error(result)) return 0;
  if (min_duration_ns == 0) return 1;
  return (record->flags & TRACE_HAS_ENTRY) && record->time_ns - record->entry_ns >= min_duration_ns;
}

/// A thread that was in a call when tracing began, or that is new: it returns from a call whose entry was not seen.
static void end_unseen_call(__u32 compat, __u32 number, __s64 result, __u64 now) {
  struct pending_call* call = begin_call(compat, number);
  if (!call) return;
  call->in_call = 0;
  call->record.flags = TRACE_HAS_EXIT;
  call->record.time_ns = now;
  call->record.result = result;
  if (is_wanted_result(&call->record, result)) send(call);
}

static void end_call(struct pending_call* call, __s64 result, __u64 now) {
  call->in_call = 0;
  call->record.flags |= TRACE_HAS_EXIT;
  call->record.time_ns = now;
  call->record.result = result;
  if (!is_wanted_result(&call->record, result)) return;
  if (call->rules_at_exit || call->faulted) read_at_exit(call, result);
  send(call);
  keep_pace(call);
}

static struct pending_call* pending_of(struct task_struct* task) {
  struct pending_call* call = bpf_task_storage_get(&calls, task, 0, 0);
  return call && call->in_call ? call : 0;
}

/// The thread stays in its call, for a while or for ever. Not sent if only the result tells whether the call is wanted.
static void send_entry(struct pending_call* call) {
  if (enabled != FOLLOW_ON || failed_only || min_duration_ns != 0) return;
  call->record.time_ns = bpf_ktime_get_ns();
  send(call);
}

static void read_arguments(const void* registers, _Bool compat, __u64* args) {
  if (!is_x86()) {
    const struct pt_regs___arm64* arm64 = registers;
    args[0] = arm64->regs[0], args[1] = arm64->regs[1], args[2] = arm64->regs[2];
    args[3] = arm64->regs[3], args[4] = arm64->regs[4], args[5] = arm64->regs[5];
    return;
  }
  const struct pt_regs___x86* x86 = registers;
  if (compat) {
    args[0] = (__u32)x86->bx, args[1] = (__u32)x86->cx, args[2] = (__u32)x86->dx;
    args[3] = (__u32)x86->si, args[4] = (__u32)x86->di, args[5] = (__u32)x86->bp;
    return;
  }
  args[0] = x86->di, args[1] = x86->si, args[2] = x86->dx;
  args[3] = x86->r10, args[4] = x86->r8, args[5] = x86->r9;
}

static int enter(const void* registers, __s64 number, __u32 compat) {
  if (!begins_wanted(compat, number)) return 0;
  struct pending_call* call = begin_call(compat, (__u32)number);
  if (!call) {
    lose_call(compat, (__u32)number);
    return 0;
  }
  read_arguments(registers, compat != 0, call->record.args);
  finish_entry(call);
  return 0;
}

static int leave(__s64 result, __s64 number, __u32 compat) {
  if (!ends_wanted(compat, number)) return 0;
  __u64 now = bpf_ktime_get_ns();
  struct pending_call* call = pending_of(bpf_get_current_task_btf());
  if (call)
    end_call(call, result, now);
  else if (begins_wanted(compat, number))
    end_unseen_call(compat, (__u32)number, result, now);
  return 0;
}

SEC("tp_btf/sys_enter")
int on_enter(const __u64* context) {
  _Bool compat = is_compat();
  if (only_compat && !compat) return 0;
  return enter((const void*)context[0], (__s64)context[1], compat);
}

SEC("tp")
int on_own_enter(const struct own_tracepoint* context) {
  // The kernel refuses to attach a program that reads more of the context than a call has arguments, so use the registers.
  return enter((const void*)bpf_task_pt_regs(bpf_get_current_task_btf()), context->number, 0);
}

SEC("tp_btf/sched_switch")
int on_switch(const __u64* context) {
  _Bool preempted = context[0] != 0;
  if (preempted || enabled != FOLLOW_ON) return 0;
  struct pending_call* call = pending_of((struct task_struct*)context[1]);
  if (call) send_entry(call);
  return 0;
}

SEC("raw_tp/sched_process_exit")
int on_task_exit(struct bpf_raw_tracepoint_args* context) {
  struct pending_call* call = pending_of(bpf_get_current_task_btf());
  if (call) {
    send_entry(call);
    call->in_call = 0;
  }
  followed_exit();
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  if (!followed_exec(context)) return 0;
  struct task_struct* task = bpf_get_current_task_btf();
  if (is_32_bit_program()) saw_compat_program = 1;
  if (!traces_exec) return 0;
  struct pending_call* call = pending_of(task);
  if (!call) return 0;
  fill_comm(&call->record, task);
  __u64 pid_tgid = bpf_get_current_pid_tgid();
  call->record.pid = (__s32)(pid_tgid >> 32);
  call->record.tid = (__s32)pid_tgid;
  if (call->faulted) read_from_program(call, (const struct linux_binprm*)context->args[2], task);
  // From here on other programs trace the thread, which know nothing of this call.
  if (only_compat && call->record.compat != is_32_bit_program()) end_call(call, 0, bpf_ktime_get_ns());
  return 0;
}

/// tp_btf/task_rename: the new name is passed.
SEC("tp_btf/task_rename")
int on_rename(const __u64* context) {
  struct task_struct* task = (struct task_struct*)context[0];
  struct pending_call* call = bpf_task_storage_get(&calls, task, 0, 0);
  if (call) bpf_probe_read_kernel_str(call->record.comm, sizeof(call->record.comm), (const void*)context[1]);
  return 0;
}
