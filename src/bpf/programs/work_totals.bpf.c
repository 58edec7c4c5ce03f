// Adds up the kernel's own work: interrupts, softirqs, work items and tasks, by CPU: how long each ran, or how long it had waited
// since it was raised. Nothing is sent per event.
#include "core_types.h"
#include "work_totals.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct irqaction {
  const char* name;
} KERNEL_TYPE;
struct work_struct {
  void* func;
} KERNEL_TYPE;

/// When work began, or was raised.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, struct work_sum_key);
  __type(value, __u64);
} begun SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, struct work_sum_key);
  __type(value, struct work_sum);
} sums SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u8 delays = 0;   // from raise to entry; otherwise from entry to exit
const volatile __u8 by_task = 0;  // interrupts count for the task they interrupt

__u8 enabled = 0;
__u64 lost = 0;  // intervals without room

static struct work_sum_key key_of(__u32 work_class, __u64 id) {
  struct work_sum_key key = {.id = id, .cpu = bpf_get_smp_processor_id(), .work_class = work_class};
  if (by_task && (work_class == WORK_IRQ || work_class == WORK_SOFTIRQ)) key.id = (__u32)bpf_get_current_pid_tgid();
  return key;
}

static void begins(__u32 work_class, __u64 id) {
  if (!enabled) return;
  struct work_sum_key key = key_of(work_class, id);
  __u64 now = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&begun, &key, &now, BPF_ANY) != 0) __sync_fetch_and_add(&lost, 1);
}

enum name_kind { NO_NAME, NAME_OF_ACTION, NAME_OF_TASK, FUNCTION_OF_WORK };
static void name(struct work_sum* sum, enum name_kind kind, void* object) {
  if (kind == NAME_OF_ACTION)
    bpf_probe_read_kernel_str(sum->name, sizeof(sum->name), BPF_CORE_READ((struct irqaction*)object, name));
  else if (kind == NAME_OF_TASK)
    bpf_probe_read_kernel_str(sum->name, sizeof(((struct task_struct*)0)->comm), ((struct task_struct*)object)->comm);
  else if (kind == FUNCTION_OF_WORK)
    sum->function = (__u64)object;
}

/// A row is only changed by the CPU in its key.
static void ends(__u32 work_class, __u64 id, enum name_kind kind, void* object) {
  if (!enabled) return;
  struct work_sum_key key = key_of(work_class, id);
  __u64* start = bpf_map_lookup_elem(&begun, &key);
  if (!start) return;
  __u64 since = *start, now = bpf_ktime_get_ns();
  bpf_map_delete_elem(&begun, &key);
  __u64 ns = now > since ? now - since : 0;
  struct work_sum* sum = bpf_map_lookup_elem(&sums, &key);
  if (!sum) {
    struct work_sum first = {};
    name(&first, kind, object);
    if (bpf_map_update_elem(&sums, &key, &first, BPF_ANY) != 0) {
      __sync_fetch_and_add(&lost, 1);
      return;
    }
    sum = bpf_map_lookup_elem(&sums, &key);
    if (!sum) return;
  }
  sum->count++;
  sum->total_ns += ns;
  if (ns <= sum->longest_ns && sum->longest_ns != 0) return;
  sum->longest_ns = ns;
  sum->longest_start_ns = since;
  sum->longest_end_ns = now;
}

SEC("raw_tp/irq_handler_entry")
int on_irq(struct bpf_raw_tracepoint_args* context) {
  begins(WORK_IRQ, (__u32)context->args[0]);
  return 0;
}
SEC("raw_tp/irq_handler_exit")
int after_irq(struct bpf_raw_tracepoint_args* context) {
  ends(WORK_IRQ, (__u32)context->args[0], NAME_OF_ACTION, (void*)context->args[1]);
  return 0;
}

SEC("raw_tp/softirq_raise")
int on_raise(struct bpf_raw_tracepoint_args* context) {
  begins(WORK_SOFTIRQ, (__u32)context->args[0]);
  return 0;
}
SEC("raw_tp/softirq_entry")
int on_softirq(struct bpf_raw_tracepoint_args* context) {
  __u32 number = (__u32)context->args[0];
  if (delays)
    ends(WORK_SOFTIRQ, number, NO_NAME, 0);
  else
    begins(WORK_SOFTIRQ, number);
  return 0;
}
SEC("raw_tp/softirq_exit")
int after_softirq(struct bpf_raw_tracepoint_args* context) {
  ends(WORK_SOFTIRQ, (__u32)context->args[0], NO_NAME, 0);
  return 0;
}

SEC("raw_tp/workqueue_activate_work")
int on_activation(struct bpf_raw_tracepoint_args* context) {
  begins(WORK_WORKQUEUE, context->args[0]);
  return 0;
}
SEC("raw_tp/workqueue_execute_start")
int on_work(struct bpf_raw_tracepoint_args* context) {
  struct work_struct* work = (struct work_struct*)context->args[0];
  if (delays)
    ends(WORK_WORKQUEUE, context->args[0], FUNCTION_OF_WORK, BPF_CORE_READ(work, func));
  else
    begins(WORK_WORKQUEUE, context->args[0]);
  return 0;
}
SEC("raw_tp/workqueue_execute_end")
int after_work(struct bpf_raw_tracepoint_args* context) {
  // The item may be gone; the function is passed separately.
  ends(WORK_WORKQUEUE, context->args[0], FUNCTION_OF_WORK, (void*)context->args[1]);
  return 0;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args* context) {
  struct task_struct* previous = (struct task_struct*)context->args[1];
  ends(WORK_SCHED, (__u32)BPF_CORE_READ(previous, pid), NAME_OF_TASK, previous);
  begins(WORK_SCHED, (__u32)BPF_CORE_READ((struct task_struct*)context->args[2], pid));
  return 0;
}
