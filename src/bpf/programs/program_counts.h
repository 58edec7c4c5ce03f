// What program_counts.bpf.c and its loader agree on.
#pragma once

/* Events that are read at each entry and exit of a program. */
#define PROGRAM_COUNT_EVENTS 64

struct program_count {
  unsigned long long value;
  unsigned long long enabled_ns;
  unsigned long long running_ns;
  unsigned long long is_running; /* between entry and exit */
};
