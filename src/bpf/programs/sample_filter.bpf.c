// Decides for each sample of a perf event whether it is kept, by values of the sample. What it tests is constant, so the kernel
// removes what does not apply when it loads the program.
#include "core_types.h"
#include "sample_filter.h"
#include "sample_tests.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct sample_test tests[SAMPLE_FILTER_TESTS] = {};
const volatile __u8 test_count = 0;

__u64 dropped = 0;

SEC("perf_event")
int on_sample(void* context) {
  __u8 next = 0;
#pragma unroll
  for (int i = 0; i < SAMPLE_FILTER_TESTS; ++i) {
    if (i < test_count && next == i) next = holds(context, &tests[i]) ? tests[i].if_true : tests[i].if_false;
  }
  if (next == SAMPLE_FILTER_KEEPS) return 1;
  __sync_fetch_and_add(&dropped, 1);
  return 0;
}
