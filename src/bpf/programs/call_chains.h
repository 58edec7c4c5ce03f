// Call chains by number, for programs that add something up per chain.
#pragma once

#include "bpf/programs/call_chain_number.h"
#include "bpf/programs/core_types.h"

#include <bpf/bpf_helpers.h>

/* Maximum number of distinct call chains, and of addresses per chain. */
#define CALL_CHAINS 16384
#define CALL_CHAIN_DEPTH 64

// The kernel puts a chain into the slot that its hash gives, and refuses a second chain there: of
// a few hundred, one or two. Those have a table of their own.
struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, CALL_CHAINS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, CALL_CHAIN_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, CALL_CHAINS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, CALL_CHAIN_DEPTH * sizeof(__u64));
} spare_stacks SEC(".maps");

/// Call chains that there was no room for.
__u64 lost_stacks = 0;

/// The number of the running task's call chain; negative: there is none. `space`: 0 for the
/// kernel's chain, or BPF_F_USER_STACK.
static int call_chain(void* context, __u64 space) {
  enum { BAD_ADDRESS = -14 };  // EFAULT: the task has no such chain
  long number = bpf_get_stackid(context, &stacks, space | BPF_F_FAST_STACK_CMP);
  if (number >= 0 || number == BAD_ADDRESS) return (int)number;
  number = bpf_get_stackid(context, &spare_stacks, space | BPF_F_FAST_STACK_CMP);
  if (number >= 0) return (int)number | IN_SPARE_STACKS;
  __sync_fetch_and_add(&lost_stacks, 1);
  return (int)number;
}
