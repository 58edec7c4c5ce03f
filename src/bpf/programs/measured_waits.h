// What programs that measure waits of threads, with their call chains, have in common.
#pragma once

#include "bpf/programs/call_chains.h"

/// What there was no room for: waits, and their time.
__u64 lost_waits = 0, lost_ns = 0;

static void lose(__u64 ns) {
  __sync_fetch_and_add(&lost_waits, 1);
  __sync_fetch_and_add(&lost_ns, ns);
}
