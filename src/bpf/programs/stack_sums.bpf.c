// Counts the samples of an event by thread and call chain, window by window, instead of letting the kernel write each of them.
// There are two sets of maps: one is filled while the loader reads and empties the other.
#include "core_types.h"

#include <bpf/bpf_helpers.h>

#include "stack_sums.h"

char LICENSE[] SEC("license") = "GPL";

/* The loader sets the maximum numbers of entries. They are allocated when it loads the program: nothing may be in an interrupt. */
#define CHAINS(name)                   \
  struct {                             \
    __uint(type, BPF_MAP_TYPE_HASH);   \
    __uint(max_entries, 1024);         \
    __type(key, __u64);                \
    __type(value, struct summed_chain); \
  } name SEC(".maps")
#define SUMS(name)                      \
  struct {                              \
    __uint(type, BPF_MAP_TYPE_HASH);    \
    __uint(max_entries, 1024);          \
    __type(key, struct stack_sum_key);  \
    __type(value, struct stack_sum);    \
  } name SEC(".maps")

CHAINS(even_chains);
CHAINS(odd_chains);
SUMS(even_sums);
SUMS(odd_sums);

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct summed_chain);
} scratch SEC(".maps");

// Settings, written before the program is loaded.
const volatile __u8 with_kernel = 1, with_user = 1, with_cpu = 0;
const volatile __u8 is_arm64 = 0;
const volatile __u32 depth = SUMMED_CHAIN_DEPTH;

/// The window that is being counted; its lowest bit chooses the maps.
__u32 window = 0;
/// Entries of the fuller map of the even and the odd windows.
__u64 used[2] = {};
__u64 lost_samples = 0, lost_period = 0, lost_chains = 0;

/// Where the context of a sampling event has the instruction pointer at its interrupt, and the period (struct
/// bpf_perf_event_data: the registers come first).
enum { X86_IP = 128, X86_PERIOD = 168, ARM64_PC = 256, ARM64_PERIOD = 272 };
/* The kernel accepts no other pointers into a context than itself plus a constant, which a compiler does not promise. */
#define FROM(context, offset)                                                                          \
  ({                                                                                                   \
    __u64 word;                                                                                        \
    asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word) : "r"(context), "i"(offset) : "memory");        \
    word;                                                                                              \
  })
#define ALWAYS_INLINE static __attribute__((always_inline))

/// The chain's key in `chains`; 0 if there is none, or no room.
ALWAYS_INLINE __u64 chain_in(void* context, void* chains, __u64* entries, __u64 space) {
  __u32 zero = 0;
  struct summed_chain* chain = bpf_map_lookup_elem(&scratch, &zero);
  if (!chain) return 0;
  long bytes = bpf_get_stack(context, chain->addresses, depth * sizeof(__u64), space);
  if (bytes <= 0) return 0;
  chain->size = (__u64)bytes / sizeof(__u64);
  __u64 hash = chain->size;
  for (__u32 i = 0; i < SUMMED_CHAIN_DEPTH && i < chain->size; i++) {
    hash = (hash ^ chain->addresses[i]) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  hash |= 1;  // never 0
  if (bpf_map_lookup_elem(chains, &hash)) return hash;
  if (bpf_map_update_elem(chains, &hash, chain, BPF_NOEXIST) == 0)
    __sync_fetch_and_add(entries, 1);
  else if (!bpf_map_lookup_elem(chains, &hash)) {
    __sync_fetch_and_add(&lost_chains, 1);
    return 0;
  }
  return hash;
}

ALWAYS_INLINE void count(void* context, void* chains, void* sums, __u64* entries, __u64 ip, __u64 period) {
  __u64 both = bpf_get_current_pid_tgid();
  struct stack_sum_key key = {.pid = (__u32)(both >> 32), .tid = (__u32)both, .ip = ip};
  key.cpu = with_cpu ? bpf_get_smp_processor_id() : ~0u;
  if (with_kernel) key.kernel_chain = chain_in(context, chains, entries, 0);
  // The idle task has no user stack of its own, and would show the one it took over.
  if (with_user && key.tid != 0) key.user_chain = chain_in(context, chains, entries, BPF_F_USER_STACK);
  struct stack_sum* sum = bpf_map_lookup_elem(sums, &key);
  if (!sum) {
    struct stack_sum none = {};
    if (bpf_map_update_elem(sums, &key, &none, BPF_NOEXIST) == 0) __sync_fetch_and_add(entries, 1);
    sum = bpf_map_lookup_elem(sums, &key);
  }
  if (!sum) {
    __sync_fetch_and_add(&lost_samples, 1);
    __sync_fetch_and_add(&lost_period, period);
    return;
  }
  __sync_fetch_and_add(&sum->count, 1);
  __sync_fetch_and_add(&sum->period, period);
  sum->last_ns = bpf_ktime_get_ns();
}

/// Always 0: the kernel writes no sample.
SEC("perf_event")
int sum_sample(void* context) {
  __u64 ip, period;
  if (is_arm64) {
    ip = FROM(context, ARM64_PC);
    period = FROM(context, ARM64_PERIOD);
  } else {
    ip = FROM(context, X86_IP);
    period = FROM(context, X86_PERIOD);
  }
  if (window & 1)
    count(context, &odd_chains, &odd_sums, &used[1], ip, period);
  else
    count(context, &even_chains, &even_sums, &used[0], ip, period);
  return 0;
}
