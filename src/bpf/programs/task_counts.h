// What task_counts.bpf.c and its loader agree on.
#pragma once

/* Events that one program reads at each switch of tasks. */
#define TASK_COUNT_EVENTS 64
/* Threads that can be followed at a time. */
#define TASK_COUNT_TASKS 65536

struct task_count {
  unsigned long long value;
  unsigned long long enabled_ns;
  unsigned long long running_ns;
};
