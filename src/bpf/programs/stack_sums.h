// What stack_sums.bpf.c and its loader share.
#pragma once

/* Addresses per chain: the kernel's own default (perf_event_max_stack). */
#define SUMMED_CHAIN_DEPTH 127

/// The samples that one row stands for: those of a thread with the same call chains.
struct stack_sum_key {
  __u32 pid, tid;
  __u64 ip;
  __u64 kernel_chain, user_chain;  // keys in the window's map of chains; 0: none
  __u32 cpu;                       // all ones: of any
  __u32 unused;
};

struct stack_sum {
  __u64 count;    // samples
  __u64 period;   // the sum of theirs
  __u64 last_ns;  // when the last was taken; CLOCK_MONOTONIC
};

/// Innermost first; may contain the kernel's context markers.
struct summed_chain {
  __u64 size;
  __u64 addresses[SUMMED_CHAIN_DEPTH];
};
