// What lock_waits.bpf.c and its loader agree on.
#pragma once

enum lock_wait_grouping {
  LOCK_BY_STACK = 0,
  LOCK_BY_THREAD = 1,
  LOCK_BY_ADDRESS = 2,
  LOCK_BY_OWNER = 3,
  LOCK_BY_CGROUP = 4, /* of the waiting thread */
};

/// What the waits of a row have in common: the number of a call chain, a thread, a lock, its owner
/// or a cgroup; and the type of the lock.
struct lock_wait_key {
  unsigned long long what;
  unsigned int flags;
  unsigned int padding;
};

/// For one CPU.
struct lock_wait_sum {
  unsigned long long count, total_ns, longest_ns, shortest_ns;
  char comm[16]; /* of the thread or owner */
};
