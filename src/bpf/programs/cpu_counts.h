// What programs that include cpu_counters.h and their loaders agree on.
#pragma once

/* Events that one program can read. */
#define CPU_COUNT_EVENTS 64

struct cpu_count {
  unsigned long long value;
  unsigned long long enabled_ns;
  unsigned long long running_ns;
};
