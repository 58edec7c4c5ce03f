// What the context of a sampling event says, on each processor. The kernel's struct
// bpf_perf_event_data begins with the registers at the interrupt, whose layout is part of its
// interface: struct pt_regs on x86, struct user_pt_regs on arm64. The period follows them.
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_helpers.h>

/// Set before the program is loaded; the kernel then removes what is for other processors.
const volatile __u8 is_arm64 = 0;

enum { X86_IP = 128, X86_CS = 136, X86_PERIOD = 168 };
enum { ARM64_PC = 256, ARM64_PSTATE = 264, ARM64_PERIOD = 272 };
enum { X86_USER_MODE = 3, ARM64_MODE = 15 };

/* The kernel accepts no other pointers into a context than itself plus a constant, which a compiler
   does not promise. */
#define FROM_CONTEXT(context, offset)                                                           \
  ({                                                                                            \
    __u64 word;                                                                                 \
    asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word) : "r"(context), "i"(offset) : "memory"); \
    word;                                                                                       \
  })

/// The instruction pointer at the interrupt.
static inline __u64 sampled_ip(void* context) {
  if (is_arm64) return FROM_CONTEXT(context, ARM64_PC);
  return FROM_CONTEXT(context, X86_IP);
}

static inline __u64 sampled_period(void* context) {
  if (is_arm64) return FROM_CONTEXT(context, ARM64_PERIOD);
  return FROM_CONTEXT(context, X86_PERIOD);
}

static inline _Bool is_in_user_mode(void* context) {
  if (is_arm64) return (FROM_CONTEXT(context, ARM64_PSTATE) & ARM64_MODE) == 0;
  return (FROM_CONTEXT(context, X86_CS) & X86_USER_MODE) == X86_USER_MODE;
}
