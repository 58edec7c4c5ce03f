// What function_times.bpf.c and its loader agree on.
#pragma once

/* At most; as many as in ftrace/call_times.h. */
#define FUNCTION_TIME_BUCKETS 22
/* Threads that are, or were, in the function; and how deep it may recurse. */
#define FUNCTION_THREADS 16384
#define FUNCTION_DEPTH 8

/// For one CPU.
struct function_time_sums {
  unsigned long long counts[FUNCTION_TIME_BUCKETS];
  unsigned long long calls, total_ns, longest_ns, shortest_ns;
};
