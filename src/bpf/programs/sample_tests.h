// What programs that filter samples have in common: a value of a sample, and whether it passes a
// test.
#pragma once

#include "bpf/programs/core_types.h"
#include "bpf/programs/sample_filter.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define INLINE static __attribute__((always_inline))

union perf_sample_weight {
  __u64 full;
} KERNEL_TYPE;
union perf_mem_data_src {
  __u64 val;
} KERNEL_TYPE;
/// What a sample is made of.
struct perf_sample_data {
  __u64 period, addr, ip, id, time, txn, phys_addr, code_page_size, data_page_size;
  union perf_sample_weight weight;
  union perf_mem_data_src data_src;
} KERNEL_TYPE;
struct perf_event {
  struct perf_event* parent;  // of an event that a task inherited
  __u64 id;
} KERNEL_TYPE;
/// What the context really is. Helpers may read it, the program itself may not.
struct bpf_perf_event_data_kern {
  struct perf_sample_data* data;
  struct perf_event* event;
} KERNEL_TYPE;

INLINE __u64 snoop_of(__u64 source) {
  return (source >> 19 & 0x1f) | (source >> 38 & 3) << 5;
}

INLINE __u64 sampled(struct bpf_perf_event_data_kern* context, __u8 value) {
  struct perf_sample_data* data = BPF_CORE_READ(context, data);
  switch (value) {
    case SAMPLE_PERIOD:
      return BPF_CORE_READ(data, period);
    case SAMPLE_IP:
      return BPF_CORE_READ(data, ip);
    case SAMPLE_ID:
      return BPF_CORE_READ(data, id);
    case SAMPLE_TIME:
      return BPF_CORE_READ(data, time);
    case SAMPLE_ADDR:
      return BPF_CORE_READ(data, addr);
    case SAMPLE_TXN:
      return BPF_CORE_READ(data, txn);
    case SAMPLE_WEIGHT:
      return BPF_CORE_READ(data, weight.full);
    case SAMPLE_PHYS_ADDR:
      return BPF_CORE_READ(data, phys_addr);
    case SAMPLE_CODE_PAGE:
      return BPF_CORE_READ(data, code_page_size);
    case SAMPLE_DATA_PAGE:
      return BPF_CORE_READ(data, data_page_size);
    case SAMPLE_SNOOP:
      return snoop_of(BPF_CORE_READ(data, data_src.val));
    default:
      return BPF_CORE_READ(data, data_src.val);
  }
}

INLINE __u64 value_of(void* context, __u8 value) {
  switch (value) {
    case SAMPLE_PID:
      return bpf_get_current_pid_tgid() >> 32;
    case SAMPLE_TID:
      return (__u32)bpf_get_current_pid_tgid();
    case SAMPLE_CPU:
      return bpf_get_smp_processor_id();
    case SAMPLE_UID:
      return (__u32)bpf_get_current_uid_gid();
    case SAMPLE_GID:
      return bpf_get_current_uid_gid() >> 32;
    case SAMPLE_CGROUP:
      return bpf_get_current_cgroup_id();
    default:
      return sampled(context, value);
  }
}

INLINE _Bool holds(void* context, const volatile struct sample_test* test) {
  __u64 value = value_of(context, test->value);
  __u8 width = test->width;
  if (width < 64) value = value >> (test->shift & 63) & ((1ull << (width & 63)) - 1);
  __u64 operand = test->operand;
  switch (test->operation) {
    case SAMPLE_EQUAL:
      return value == operand;
    case SAMPLE_NOT_EQUAL:
      return value != operand;
    case SAMPLE_LESS:
      return value < operand;
    case SAMPLE_AT_MOST:
      return value <= operand;
    case SAMPLE_GREATER:
      return value > operand;
    case SAMPLE_AT_LEAST:
      return value >= operand;
    default:
      return (value & operand) != 0;
  }
}
