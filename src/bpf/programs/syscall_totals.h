/* What syscall_totals.bpf.c and its loader agree on. */
#pragma once

#include "bpf/programs/traced_calls_settings.h"

/* Finished calls of one system call by one thread (or one cgroup, or all), with one result: 0 or an
 * errno. */
struct total_row {
  __u64 who; /* thread or cgroup id; 0: all */
  __u16 number;
  __u8 compat;
  __u8 unused;
  __u32 error;
  __u64 calls; /* 0: no row */
  __u64 total_ns, min_ns, max_ns;
  __u64 squares_low, squares_high; /* ns² */
};

struct total_key {
  __u64 who;
  __u16 number;
  __u8 compat;
  __u8 unused;
  __u32 error;
  __u64 cpu; /* so that no two CPUs add to the same row */
};

#define TOTAL_ROWS 256 /* per CPU */
struct total_cache {
  __u32 busy;
  __u32 unused[15];
  struct total_row rows[TOTAL_ROWS];
};

#define TOTAL_OTHER_ROWS 262144
#define TOTAL_NAMES 65536

struct total_name {
  __s32 pid;
  char comm[16];
};

enum total_by { TOTAL_BY_THREAD = 0, TOTAL_OF_ALL = 1, TOTAL_BY_CGROUP = 2 };
