// What work_totals.bpf.c and its loader agree on.
#pragma once

/* Classes of work, as bit numbers in a set. */
enum work_sum_class { WORK_IRQ = 0, WORK_SOFTIRQ = 1, WORK_WORKQUEUE = 2, WORK_SCHED = 3 };

struct work_sum_key {
  unsigned long long id; /* interrupt, softirq, work_struct, tid */
  unsigned int cpu;
  unsigned int work_class;
};

struct work_sum {
  unsigned long long count, total_ns;
  unsigned long long longest_ns, longest_start_ns, longest_end_ns; /* CLOCK_MONOTONIC */
  unsigned long long function;                                     /* of a work item */
  char name[32];                                                   /* of an IRQ handler, task */
};
