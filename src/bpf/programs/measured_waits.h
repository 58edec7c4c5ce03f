// What programs that measure waits of threads, with their call chains, have in common: where the
// chains are kept, and what there was no room for.
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_helpers.h>

/* Maximum number of distinct call chains, and of addresses per chain. */
#define WAIT_STACKS 16384
#define WAIT_STACK_DEPTH 64

struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, WAIT_STACKS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, WAIT_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

/// What there was no room for: waits, their time, call chains of waits that are reported.
__u64 lost_waits = 0, lost_ns = 0, lost_stacks = 0;

static void lose(__u64 ns) {
  __sync_fetch_and_add(&lost_waits, 1);
  __sync_fetch_and_add(&lost_ns, ns);
}
