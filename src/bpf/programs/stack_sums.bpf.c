// Counts the samples of an event by thread and call chain, with the chains that the kernel finds by frame pointers.
#include "core_types.h"

#include <bpf/bpf_helpers.h>

#include "sum_maps.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u8 is_arm64 = 0;

/// Where the context of a sampling event has the instruction pointer at its interrupt, and the period (struct
/// bpf_perf_event_data: the registers come first).
enum { X86_IP = 128, X86_PERIOD = 168, ARM64_PC = 256, ARM64_PERIOD = 272 };
/* The kernel accepts no other pointers into a context than itself plus a constant, which a compiler does not promise. */
#define FROM(context, offset)                                                                          \
  ({                                                                                                   \
    __u64 word;                                                                                        \
    asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word) : "r"(context), "i"(offset) : "memory");        \
    word;                                                                                              \
  })

SEC("perf_event")
int sum_sample(void* context) {
  __u64 ip, period;
  if (is_arm64) {
    ip = FROM(context, ARM64_PC);
    period = FROM(context, ARM64_PERIOD);
  } else {
    ip = FROM(context, X86_IP);
    period = FROM(context, X86_PERIOD);
  }
  __u32 odd = this_window();
  struct stack_sum_key key = sum_key(ip);
  if (sums_have_kernel && !put_stack_of(context, 0, odd, &key.kernel_chain)) return leave_to_kernel();
  // The idle task has no user stack of its own, and would show the one it took over.
  if (sums_have_user && key.tid != 0 && !put_stack_of(context, BPF_F_USER_STACK, odd, &key.user_chain)) return leave_to_kernel();
  return add_sum(&key, period, 0, odd) ? 0 : leave_to_kernel();
}
