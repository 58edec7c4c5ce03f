// Counts system calls by number, at entry and exit: one probe instead of a tracepoint event per call.
#include "follow_hooks.h"
#include "syscall_counts.h"
#include "syscall_registers.h"

char LICENSE[] SEC("license") = "GPL";

/// Counts by SYSCALL_SLOT(number, direction).
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SYSCALL_SLOTS);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

static void count(__s64 number, enum syscall_direction direction) {
  if (number < 0 || number >= SYSCALL_NUMBERS || is_compat()) return;
  __u32 slot = SYSCALL_SLOT((__u32)number, direction);
  __u64* value = bpf_map_lookup_elem(&counts, &slot);
  if (value) ++*value;
}

static _Bool is_counted(void) {
  return enabled == FOLLOW_ON && is_followed();
}

SEC("tp_btf/sys_enter")
int on_enter(const __u64* context) {
  if (is_counted()) count((__s64)context[1], SYSCALL_ENTER);
  return 0;
}

SEC("tp_btf/sys_exit")
int on_exit(const __u64* context) {
  if (is_counted()) count(number_in((const void*)context[0]), SYSCALL_EXIT);
  return 0;
}
