// What off_cpu.bpf.c and its loader agree on.
#pragma once

/// What a thread said of itself when it left its CPU.
enum off_cpu_state {
  OFF_CPU_SLEEPS = 1,  /* signals end it */
  OFF_CPU_BLOCKED = 2, /* they don't: mostly disks and locks */
  OFF_CPU_WAITS_FOR_IO = 3,
};

/// What waits of a row have in common. Numbers of stacks; negative: there is none.
struct off_cpu_key {
  unsigned int pid, tid;
  int kernel_stack, user_stack;
  unsigned int state;
  unsigned int waker_pid, waker_tid; /* who was running when it was woken; 0: nobody is told */
  int waker_kernel_stack, waker_user_stack;
  char waker_comm[16];
  unsigned int padding;
};

struct off_cpu_sum {
  unsigned long long count;
  unsigned long long total_ns;    /* from when it left its CPU until it had one again */
  unsigned long long runnable_ns; /* of that: it was woken and had none yet */
};

/// A wait that was long enough to be told by itself, or that went on at the end.
struct off_cpu_wait {
  struct off_cpu_key key;
  unsigned long long begin_ns, end_ns, runnable_ns; /* CLOCK_MONOTONIC */
};
