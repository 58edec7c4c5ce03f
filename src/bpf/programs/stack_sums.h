// What the programs that count samples (stack_sums.bpf.c, stack_walk.bpf.c) share with their
// loaders.
#pragma once

#include "bpf/programs/stack_walk.h"

enum {
  SUM_STACK_DEPTH = 127,               // what the kernel's own chains have at most by default
  SUM_CHAIN_DEPTH = WALK_MOST_FRAMES,  // what a chain can have at most
  SUM_PART_ADDRESSES = 32,
};

/// The samples that one row stands for: those of a thread with the same call chains.
struct stack_sum_key {
  __u32 pid, tid;
  __u64 ip;
  __u64 kernel_chain, user_chain;  // keys of their innermost parts; 0: none
  __u32 cpu;                       // all ones: of any
  __u16 event;                     // the cookie that the program is attached with
  __u16 end;                       // walk_end of a user chain that was walked
};

struct stack_sum {
  __u64 count;                    // samples
  __u64 period;                   // the sum of theirs
  __u64 last_ns;                  // when the last was taken; CLOCK_MONOTONIC
  struct walk_object_key object;  // that the walk ended in
};

/// A piece of a call chain, innermost first; may contain the kernel's context markers. Chains are
/// cut from their outermost end on, so those with the same callers share parts.
struct chain_part {
  __u64 outer;  // key of the part that follows; 0: none
  __u64 count;
  __u64 addresses[SUM_PART_ADDRESSES];
};

struct sum_state {
  __u32 window;  // that is being counted; its lowest bit chooses the maps
  __u32 zero;
  __u64 sums[2], parts[2];  // entries of the even and the odd windows' maps
  __u64 written;            // samples that found no room, or no table: the kernel writes them
};
