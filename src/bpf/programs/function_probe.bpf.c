// Programs at the entry or return of a function, to measure what a probe costs: one does nothing, one writes a line to the kernel's
// trace buffer.
#include "core_types.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int does_nothing(void* registers) {
  return 0;
}

SEC("uprobe")
int prints_a_line(void* registers) {
  char text[] = "perf bench uprobe %u";
  bpf_trace_printk(text, sizeof text, (__u32)bpf_get_current_pid_tgid());
  return 0;
}
