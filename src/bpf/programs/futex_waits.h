// What futex_waits.bpf.c and its loader agree on.
#pragma once

enum futex_outcome {
  FUTEX_WOKEN = 0,
  FUTEX_TIMED_OUT = 1,
  FUTEX_INTERRUPTED = 2, /* by a signal */
  FUTEX_LASTS = 3,       /* still waiting when its thread, or the measuring, ended */
};

/// What the waits of a row have in common.
struct futex_wait_key {
  unsigned long long word; /* address of the futex in its process; 0: one of several */
  unsigned int pid, tid;
  int stack;              /* number; negative: none */
  unsigned int operation; /* FUTEX_WAIT … without its flags */
  unsigned int owner;     /* the thread that may hold the lock; 0: unknown */
  unsigned int outcome;   /* enum futex_outcome */
};

struct futex_wait_sum {
  unsigned long long count, total_ns, longest_ns, shortest_ns;
};

/// A wait in progress.
struct futex_wait_going {
  struct futex_wait_key key;
  unsigned long long ns;
};
