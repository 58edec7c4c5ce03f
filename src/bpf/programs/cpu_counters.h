// CPU counters, for programs that read them on the CPU and add up the difference between two
// readings.
#pragma once

#include "bpf/programs/core_types.h"
#include "bpf/programs/cpu_counts.h"

#include <bpf/bpf_helpers.h>

enum { kKeepsEvents = 2048 };  // BPF_F_PRESERVE_ELEMS

/// The counters of an event, by CPU (bpf/shared_counters.h).
struct counter_map {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
  __uint(map_flags, kKeepsEvents);
};

/// By event.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, CPU_COUNT_EVENTS);
  __type(key, __u32);
  __array(values, struct counter_map);
} counters SEC(".maps");

/// Accumulated counts, by event.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, CPU_COUNT_EVENTS);
  __type(key, __u32);
  __type(value, struct cpu_count);
} totals SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u32 event_count = 0;

/// False if this CPU has no such counter.
static _Bool read_counter(__u32 event, struct bpf_perf_event_value* now) {
  enum { kCurrentCpu = 0xffffffff };  // BPF_F_CURRENT_CPU
  void* map = bpf_map_lookup_elem(&counters, &event);
  return map && bpf_perf_event_read_value(map, kCurrentCpu, now, sizeof(*now)) == 0;
}

static void remember(struct cpu_count* reading, const struct bpf_perf_event_value* now) {
  reading->value = now->counter;
  reading->enabled_ns = now->enabled;
  reading->running_ns = now->running;
}

static void add_since(struct cpu_count* total, const struct cpu_count* reading,
                      const struct bpf_perf_event_value* now) {
  total->value += now->counter - reading->value;
  total->enabled_ns += now->enabled - reading->enabled_ns;
  total->running_ns += now->running - reading->running_ns;
}
