// What sched_totals.bpf.c and its loader agree on.
#pragma once

/* Delays of less than 1 us, 2 us, 4 us, …; the last bucket is open-ended. */
#define SCHED_DELAY_BUCKETS 24

/// What a thread spends its time on. Blocked: waiting, not interruptible by signals.
enum sched_phase {
  SCHED_RUNS = 0,
  SCHED_WAITS_FOR_CPU = 1,
  SCHED_SLEEPS = 2,
  SCHED_BLOCKED = 3,
  SCHED_PHASES = 4,
};

/// A thread's sums. Times are CLOCK_MONOTONIC, in ns.
struct sched_sum {
  unsigned int pid, tid;
  char comm[16];
  unsigned long long first_ns;   /* from then on its activity is known */
  unsigned long long last_ns;    /* until then; if still alive, when the sums were read */
  unsigned long long runtime_ns; /* as the scheduler accounts for it */
  unsigned long long phase_ns[SCHED_PHASES];
  unsigned long long delays; /* times that it got a CPU after waiting for one */
  unsigned long long delay_ns, longest_ns, longest_end_ns;
  unsigned int buckets[SCHED_DELAY_BUCKETS];
  /* Used only by the BPF program. */
  unsigned long long since_ns, runnable_ns, accounted_ns;
  unsigned int phase, padding;
};
