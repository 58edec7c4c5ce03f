// What off_cpu.bpf.c and its loader agree on.
#pragma once

/// The state of a thread when it left its CPU.
enum off_cpu_state {
  OFF_CPU_SLEEPS = 1,  /* signals end it */
  OFF_CPU_BLOCKED = 2, /* signals don't end it: mostly disks and locks */
  OFF_CPU_WAITS_FOR_IO = 3,
};

/// What the waits of a row have in common. Stacks are given by number; negative: none.
struct off_cpu_key {
  unsigned int pid, tid;
  int kernel_stack, user_stack;
  unsigned int state;
  unsigned int waker_pid, waker_tid; /* who was running when it was woken; 0: not recorded */
  int waker_kernel_stack, waker_user_stack;
  char waker_comm[16];
  unsigned int waker_is_followed; /* then the recording has its names from the kernel */
};

struct off_cpu_sum {
  unsigned long long count;
  unsigned long long total_ns;    /* from leaving its CPU until it had one again */
  unsigned long long runnable_ns; /* the part of it after the wakeup */
};

/// A wait that was long enough to be reported individually, or was still in progress at the end.
struct off_cpu_wait {
  struct off_cpu_key key;
  unsigned long long begin_ns, end_ns, runnable_ns; /* CLOCK_MONOTONIC */
};
