// Times the calls of one kernel function, or the interval between two tracepoints hit by one thread, and adds them up into a
// histogram. Nothing is sent per call.
//
// The programs come in pairs; the loader loads one pair. A trampoline (fentry, fexit) sees every call and every return. A
// kretprobe may miss returns while many threads are in the function, and tracepoints may come in any order: a new begin of a
// thread then replaces its previous one, whose time is unknown.
#include "follow_hooks.h"
#include "function_times.h"

char LICENSE[] SEC("license") = "GPL";

enum { MAP_TYPE_LRU_HASH = 9 };
enum { NS_PER_US = 1000 };

/// The unfinished calls of a thread, outermost first. 0: not measured.
struct open_calls {
  __u64 since_ns[FUNCTION_DEPTH];
  __u64 depth;
};
/// LRU: entries of dead threads make room for others.
struct {
  __uint(type, MAP_TYPE_LRU_HASH);
  __uint(max_entries, FUNCTION_THREADS);
  __type(key, __u64);
  __type(value, struct open_calls);
} calls SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct function_time_sums);
} sums SEC(".maps");

/// The CPUs to measure on, unless all are.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u64);
  __type(value, __u8);
} cpus SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u8 some_cpus = 0;
const volatile __u8 in_ns = 0;         // the histogram; otherwise µs
// Buckets of one size; a range of 0: powers of two.
const volatile __u64 bucket_range = 0, first_bucket_at = 0, last_bucket_at = 0, bucket_count = 0;
const volatile __u8 every_return = 0;  // each begin has its end: calls may be nested

// What was not measured.
__u64 unended = 0, too_deep = 0;

/// The idle threads share tid 0; they are distinguished by their CPU.
static __u64 thread_key(void) {
  __u32 tid = current_tid();
  return tid != 0 ? tid : 1ull << 32 | bpf_get_smp_processor_id();
}

static __u32 bit_width(__u64 value) {
  __u32 bits = value != 0;
  if (value >> 32) bits += 32, value >>= 32;
  if (value >> 16) bits += 16, value >>= 16;
  if (value >> 8) bits += 8, value >>= 8;
  if (value >> 4) bits += 4, value >>= 4;
  if (value >> 2) bits += 2, value >>= 2;
  return bits + (value >> 1 != 0);
}

static __u64 bucket_of(__u64 time) {
  if (bucket_range == 0) return bit_width(time);
  if (time == 0 || time < first_bucket_at) return 0;
  if (time >= last_bucket_at) return bucket_count - 1;
  return (time - first_bucket_at) / bucket_range + 1;
}

static void add(__u64 time_ns) {
  __u32 first = 0;
  struct function_time_sums* sum = bpf_map_lookup_elem(&sums, &first);
  if (!sum) return;
  __u64 bucket = bucket_of(in_ns ? time_ns : time_ns / NS_PER_US);
  if (bucket >= FUNCTION_TIME_BUCKETS) bucket = FUNCTION_TIME_BUCKETS - 1;
  sum->counts[bucket]++;
  sum->calls++;
  sum->total_ns += time_ns;
  if (time_ns > sum->longest_ns) sum->longest_ns = time_ns;
  if (sum->calls == 1 || time_ns < sum->shortest_ns) sum->shortest_ns = time_ns;
}

static int begin(void) {
  if (enabled != FOLLOW_ON || !is_followed()) return 0;
  __u64 who = thread_key(), cpu = bpf_get_smp_processor_id();
  struct open_calls* open = bpf_map_lookup_elem(&calls, &who);
  if (!open) {
    struct open_calls none = {};
    bpf_map_update_elem(&calls, &who, &none, BPF_ANY);
    open = bpf_map_lookup_elem(&calls, &who);
    if (!open) return 0;
  }
  _Bool is_measured = !some_cpus || bpf_map_lookup_elem(&cpus, &cpu) != 0;
  if (!every_return && open->depth != 0) {
    if (open->since_ns[0] != 0) __sync_fetch_and_add(&unended, 1);
    open->depth = 0;
  }
  __u64 depth = open->depth++;
  if (depth >= FUNCTION_DEPTH) {
    if (is_measured) __sync_fetch_and_add(&too_deep, 1);
    return 0;
  }
  open->since_ns[depth] = is_measured ? bpf_ktime_get_ns() : 0;
  return 0;
}

static int end(void) {
  __u64 now = bpf_ktime_get_ns(), who = thread_key();
  struct open_calls* open = bpf_map_lookup_elem(&calls, &who);
  if (!open || open->depth == 0) return 0;
  __u64 depth = --open->depth;
  if (depth >= FUNCTION_DEPTH) return 0;
  __u64 since_ns = open->since_ns[depth];
  if (since_ns != 0 && enabled == FOLLOW_ON) add(now - since_ns);
  return 0;
}

SEC("fentry")
int on_entry(void* context) {
  return begin();
}
SEC("fexit")
int after_return(void* context) {
  return end();
}
SEC("kprobe")
int on_probe(void* context) {
  return begin();
}
SEC("kretprobe")
int after_probe(void* context) {
  return end();
}
SEC("raw_tp")
int on_first_event(void* context) {
  return begin();
}
SEC("raw_tp")
int on_second_event(void* context) {
  return end();
}
