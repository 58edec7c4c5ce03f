// What traced_calls.h and the loaders agree on.
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#else
#include "bpf/programs/core_types.h"
#endif

#define TRACED_ABIS 2 /* the native one, and that of 32-bit programs */
#define TRACED_NUMBERS 1024
#define TRACED_CPUS 4096
#define TRACED_CGROUPS 16
#define TRACED_CGROUP_DEPTH 16
