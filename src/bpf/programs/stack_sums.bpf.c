// Counts the samples of an event by thread and call chain, with the chains that the kernel finds by frame pointers.
#include "core_types.h"

#include <bpf/bpf_helpers.h>

#include "sample_context.h"
#include "sum_maps.h"

char LICENSE[] SEC("license") = "GPL";

SEC("perf_event")
int sum_sample(void* context) {
  __u32 odd = this_window();
  struct stack_sum_key key = sum_key(sampled_ip(context));
  if (sums_have_kernel && !put_stack_of(context, 0, odd, &key.kernel_chain)) return leave_to_kernel();
  // The idle task has no user stack of its own, and would show the one it took over.
  if (sums_have_user && key.tid != 0 && !put_stack_of(context, BPF_F_USER_STACK, odd, &key.user_chain)) return leave_to_kernel();
  return add_sum(&key, sampled_period(context), 0, odd) ? 0 : leave_to_kernel();
}
