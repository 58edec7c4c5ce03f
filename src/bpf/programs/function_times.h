// What function_times.bpf.c and its loader agree on.
#pragma once

/* By powers of two; ftrace/call_times.h has as many. */
#define FUNCTION_TIME_BUCKETS 22
/* Threads that are inside the function, or were; and how deep it may call itself. */
#define FUNCTION_THREADS 16384
#define FUNCTION_DEPTH 8

/// Of one CPU.
struct function_time_sums {
  unsigned long long counts[FUNCTION_TIME_BUCKETS];
  unsigned long long calls, total_ns, longest_ns, shortest_ns;
};
