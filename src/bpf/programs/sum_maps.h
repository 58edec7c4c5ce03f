// Counts samples by thread and call chain, window by window, instead of letting the kernel write
// each of them. There are two sets of maps: one is filled while the loader reads and empties the
// other. A sample that there is no room for is for the program to pass on.
//
//   __u32 odd = this_window();
//   struct stack_sum_key key = sum_key(ip);
//   if (kernel_chain_of(context, odd, &key.kernel_chain) && … && add_sum(&key, period, 0, odd))
//   return 0; return 1;
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_helpers.h>

#include "bpf/programs/stack_sums.h"

/* The loader sets the maximum numbers of entries. They are allocated when it loads the program:
   nothing may be in an interrupt. */
#define PARTS(name)                   \
  struct {                            \
    __uint(type, BPF_MAP_TYPE_HASH);  \
    __uint(max_entries, 1);           \
    __type(key, __u64);               \
    __type(value, struct chain_part); \
  } name SEC(".maps")
#define SUMS(name)                     \
  struct {                             \
    __uint(type, BPF_MAP_TYPE_HASH);   \
    __uint(max_entries, 1);            \
    __type(key, struct stack_sum_key); \
    __type(value, struct stack_sum);   \
  } name SEC(".maps")

PARTS(even_parts);
PARTS(odd_parts);
SUMS(even_sums);
SUMS(odd_sums);

struct address_list {
  __u64 words[SUM_CHAIN_DEPTH];
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct address_list);
} stack_lists SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct chain_part);
} new_parts SEC(".maps");

// Settings, written before the program is loaded.
const volatile __u8 sums_have_kernel = 1, sums_have_user = 1, sums_by_cpu = 0;
const volatile __u32 sums_depth = SUM_STACK_DEPTH;

struct sum_state sum_state = {};

static __u32 this_window(void) {
  return *(volatile __u32*)&sum_state.window & 1;
}

static struct stack_sum_key sum_key(__u64 ip) {
  __u64 both = bpf_get_current_pid_tgid();
  struct stack_sum_key key = {.pid = (__u32)(both >> 32), .tid = (__u32)both, .ip = ip};
  key.cpu = sums_by_cpu ? bpf_get_smp_processor_id() : ~0u;
  return key;
}

/// The key of a part of a chain, which is in the window's map then; 0 if there is no room.
__noinline __u64 put_part(struct address_list* list, __u32 first, __u32 count, __u64 outer,
                          __u32 odd) {
  __u32 zero = 0;
  struct chain_part* part = bpf_map_lookup_elem(&new_parts, &zero);
  if (!part || !list) return 0;
  part->outer = outer;
  part->count = count;
  __u64 hash = outer + count;
  for (__u32 i = 0; i < SUM_PART_ADDRESSES; ++i) {
    if (i >= count) break;
    __u64 slot = first + i;
    asm volatile("" : "+r"(slot));  // or the compiler drops the mask, which the verifier needs
    slot &= SUM_CHAIN_DEPTH - 1;
    __u64 address = list->words[slot];
    part->addresses[i] = address;
    hash = (hash ^ address) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  hash |= 1;  // never 0
  void* parts = odd ? (void*)&odd_parts : (void*)&even_parts;
  if (bpf_map_lookup_elem(parts, &hash)) return hash;
  if (bpf_map_update_elem(parts, &hash, part, BPF_NOEXIST) == 0) {
    __sync_fetch_and_add(&sum_state.parts[odd & 1], 1);
    return hash;
  }
  return bpf_map_lookup_elem(parts, &hash) ? hash : 0;
}

/// The key of a chain of `count` addresses, innermost first; 0 if it is empty, or finds no room.
__noinline __u64 put_chain(struct address_list* list, __u32 count, __u32 odd) {
  __u64 chain = 0;
  __u32 left = count;
  if (!list) return 0;
  for (__u32 i = 0; i < SUM_CHAIN_DEPTH / SUM_PART_ADDRESSES; ++i) {
    if (left == 0) break;
    __u32 part = left < SUM_PART_ADDRESSES ? left : SUM_PART_ADDRESSES;
    left -= part;
    chain = put_part(list, left, part, chain, odd);
    if (chain == 0) return 0;
  }
  return chain;
}

/// The chain that the kernel finds by frame pointers: its own, or with BPF_F_USER_STACK the
/// program's. False if there is no room for it.
static _Bool put_stack_of(void* context, __u64 space, __u32 odd, __u64* chain) {
  __u32 zero = 0;
  struct address_list* list = bpf_map_lookup_elem(&stack_lists, &zero);
  if (!list) return 0;
  long bytes = bpf_get_stack(context, list, sums_depth * sizeof(__u64), space);
  if (bytes <= 0) return 1;
  *chain = put_chain(list, (__u32)bytes / sizeof(__u64), odd);
  return *chain != 0;
}

/// Counts a sample; false if there is no room for another row. `object` may be null. A function of
/// its own, because before Linux 6.13 all that are active share 512 bytes of stack.
static __noinline _Bool add_sum(struct stack_sum_key* key, __u64 period,
                                const struct walk_object_key* object, __u32 odd) {
  void* sums = odd ? (void*)&odd_sums : (void*)&even_sums;
  struct stack_sum* sum = bpf_map_lookup_elem(sums, key);
  if (!sum) {
    struct stack_sum none = {};
    if (object) none.object = *object;
    if (bpf_map_update_elem(sums, key, &none, BPF_NOEXIST) == 0)
      __sync_fetch_and_add(&sum_state.sums[odd & 1], 1);
    sum = bpf_map_lookup_elem(sums, key);
  }
  if (!sum) return 0;
  __sync_fetch_and_add(&sum->count, 1);
  __sync_fetch_and_add(&sum->period, period);
  sum->last_ns = bpf_ktime_get_ns();
  return 1;
}

/// What the program returns so that the kernel writes the sample.
static int leave_to_kernel(void) {
  __sync_fetch_and_add(&sum_state.written, 1);
  return 1;
}
