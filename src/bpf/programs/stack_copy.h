// Copies the stack of a sampled thread whose chain cannot be walked yet, for a reader of the
// recording to unwind.
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_helpers.h>

#include "bpf/programs/stack_walk.h"

#define CURRENT_CPU 0xffffffffu  // BPF_F_CURRENT_CPU

struct stack_copy {
  __u64 header[WALK_CHAIN_HEADER / 8];  // of struct walk_chain
  __u8 stack[WALK_COPY_PIECES][WALK_COPY_PIECE];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct stack_copy);
} stack_copies SEC(".maps");

/// Writes the stack instead of the chain's addresses. False if nothing of it is in memory, or there
/// is no room for it.
static _Bool put_stack(void* context, void* carriers, const struct walk_chain* chain,
                       __u64 stack_pointer) {
  __u32 zero = 0, pieces;
  struct stack_copy* copy = bpf_map_lookup_elem(&stack_copies, &zero);
  if (!copy) return 0;
  // No piece is in two pages, so the last one ends where the stack does.
  __u64 start = stack_pointer & ~(__u64)(WALK_COPY_PIECE - 1);
  for (pieces = 0; pieces < WALK_COPY_PIECES; ++pieces)
    if (bpf_probe_read_user(copy->stack[pieces], WALK_COPY_PIECE,
                            (void*)(start + (__u64)pieces * WALK_COPY_PIECE)))
      break;
  if (pieces == 0) return 0;
  // The verifier of Linux 6.1 does not know that the loop bounds it.
  __u64 bytes = (__u64)pieces * WALK_COPY_PIECE;
  asm volatile("" : "+r"(bytes));
  if (bytes > sizeof copy->stack) return 0;
  __builtin_memcpy(copy->header, chain, WALK_CHAIN_HEADER);
  struct walk_chain* header = (struct walk_chain*)copy->header;
  header->count = 0;
  header->stack_bytes = (__u32)bytes;
  return bpf_perf_event_output(context, carriers, CURRENT_CPU, copy, WALK_CHAIN_HEADER + bytes) ==
         0;
}
