// Counts events while another BPF program runs: reads the CPU's counters at its entry and exit.
#include "cpu_counters.h"

char LICENSE[] SEC("license") = "GPL";

struct entry {
  struct cpu_count reading;
  __u64 is_running;  // between entry and exit
};

/// Counter values when the program was entered.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, CPU_COUNT_EVENTS);
  __type(key, __u32);
  __type(value, struct entry);
} entered SEC(".maps");

// State that the counting process can set at any time.
__u8 enabled = 0;

// The loader sets which program that is.
SEC("fentry/program")
int on_entry(void* context) {
  if (!enabled) return 0;
  for (__u32 event = 0; event < CPU_COUNT_EVENTS; ++event) {
    if (event >= event_count) break;
    __u32 key = event;
    struct entry* start = bpf_map_lookup_elem(&entered, &key);
    struct bpf_perf_event_value now;
    if (!start) return 0;
    start->is_running = 0;
    if (!read_counter(event, &now)) continue;
    remember(&start->reading, &now);
    start->is_running = 1;
  }
  return 0;
}

SEC("fexit/program")
int on_exit(void* context) {
  for (__u32 event = 0; event < CPU_COUNT_EVENTS; ++event) {
    if (event >= event_count) break;
    __u32 key = event;
    struct entry* start = bpf_map_lookup_elem(&entered, &key);
    struct cpu_count* total = bpf_map_lookup_elem(&totals, &key);
    struct bpf_perf_event_value now;
    if (!start || !total) return 0;
    if (!start->is_running) continue;  // entered before counting began
    start->is_running = 0;
    if (read_counter(event, &now)) add_since(total, &start->reading, &now);
  }
  return 0;
}
