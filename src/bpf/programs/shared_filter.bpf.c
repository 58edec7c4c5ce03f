// Filters samples for users who may not load programs: it is pinned in the BPF file system, and finds what to test by the event that
// the sample is of. An entry of `filters` is one recorder's.
#include "core_types.h"
#include "sample_filter.h"
#include "sample_tests.h"

char LICENSE[] SEC("license") = "GPL";

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SHARED_FILTERS);
  __type(key, __u64);  // the first of its events
  __type(value, struct shared_filter_entry);
} filters SEC(".maps");

/// Each event's key in `filters`.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SHARED_FILTER_EVENTS);
  __type(key, __u64);
  __type(value, __u64);
} events SEC(".maps");

/// Without an entry nothing is kept: the recorder sees that its entry is gone, and says so.
SEC("perf_event")
int on_shared_sample(void* context) {
  struct bpf_perf_event_data_kern* sampled_event = context;
  struct perf_event* event = BPF_CORE_READ(sampled_event, event);
  struct perf_event* parent = BPF_CORE_READ(event, parent);
  __u64 id = parent ? BPF_CORE_READ(parent, id) : BPF_CORE_READ(event, id);
  __u64* number = bpf_map_lookup_elem(&events, &id);
  if (!number) return 0;
  struct shared_filter_entry* filter = bpf_map_lookup_elem(&filters, number);
  if (!filter) return 0;
  __u32 next = 0;
  for (__u32 i = 0; i < SAMPLE_FILTER_TESTS; ++i)
    if (next == i) next = holds(context, &filter->tests[i]) ? filter->tests[i].if_true : filter->tests[i].if_false;
  if (next == SAMPLE_FILTER_KEEPS) return 1;
  __sync_fetch_and_add(&filter->dropped, 1);
  return 0;
}
