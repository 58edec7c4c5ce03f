// Counts events while another BPF program runs: reads the CPU's counters at its entry and at its exit.
#include "core_types.h"

#include <bpf/bpf_helpers.h>

#include "program_counts.h"

char LICENSE[] SEC("license") = "GPL";

/// The CPUs' counters: event * cpu_count + CPU.
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(max_entries, PROGRAM_COUNT_EVENTS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
} counters SEC(".maps");

/// What the counters said when the program was entered, and what has come together.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, PROGRAM_COUNT_EVENTS);
  __type(key, __u32);
  __type(value, struct program_count);
} entered SEC(".maps"), totals SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u32 event_count = 0;
const volatile __u32 cpu_count = 1;

// State that the counting process sets at any time.
__u8 enabled = 0;

// Which program that is, the loader says.
SEC("fentry/program")
int on_entry(void* context) {
  __u32 cpu = bpf_get_smp_processor_id();
  if (!enabled) return 0;
  for (__u32 event = 0; event < PROGRAM_COUNT_EVENTS; ++event) {
    if (event >= event_count) break;
    __u32 key = event;
    struct program_count* start = bpf_map_lookup_elem(&entered, &key);
    struct bpf_perf_event_value now;
    if (!start || cpu >= cpu_count) return 0;
    start->is_running = 0;
    if (bpf_perf_event_read_value(&counters, event * cpu_count + cpu, &now, sizeof(now)) != 0) continue;
    start->value = now.counter;
    start->enabled_ns = now.enabled;
    start->running_ns = now.running;
    start->is_running = 1;
  }
  return 0;
}

SEC("fexit/program")
int on_exit(void* context) {
  __u32 cpu = bpf_get_smp_processor_id();
  for (__u32 event = 0; event < PROGRAM_COUNT_EVENTS; ++event) {
    if (event >= event_count) break;
    __u32 key = event;
    struct program_count* start = bpf_map_lookup_elem(&entered, &key);
    struct program_count* total = bpf_map_lookup_elem(&totals, &key);
    struct bpf_perf_event_value now;
    if (!start || !total || cpu >= cpu_count) return 0;
    if (!start->is_running) continue;  // it was entered before counting began
    start->is_running = 0;
    if (bpf_perf_event_read_value(&counters, event * cpu_count + cpu, &now, sizeof(now)) != 0) continue;
    total->value += now.counter - start->value;
    total->enabled_ns += now.enabled - start->enabled_ns;
    total->running_ns += now.running - start->running_ns;
  }
  return 0;
}
