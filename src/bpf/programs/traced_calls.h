// Which calls a tracing program should trace: what the programs that send calls and those that add
// them up have in common.
#pragma once

#include "bpf/programs/followed_tasks.h"
#include "bpf/programs/syscall_registers.h"
#include "bpf/programs/traced_calls_settings.h"

const volatile __u64 wanted_calls[TRACED_ABIS][TRACED_NUMBERS / 64] = {};
const volatile __u8 filters_cpus = 0;
const volatile __u64 wanted_cpus[TRACED_CPUS / 64] = {};
const volatile __u32 wanted_cgroup_count = 0;
const volatile __u64 wanted_cgroups[TRACED_CGROUPS] = {};  // ids; includes their descendants
/// Calls are traced by their own tracepoints; on_enter and on_exit handle 32-bit programs only.
const volatile __u8 only_compat = 0;
const volatile __s32 native_execve = -1, compat_execve = -1;
/// If 0, no traced call is in progress at an exec, and the code for that case is not even verified
/// by the kernel, which would take a while.
const volatile __u8 traces_exec = 1;
const volatile __u8 failed_only = 0;
const volatile __u64 min_duration_ns = 0;

static _Bool is_wanted(__u32 compat, __s64 number) {
  if (number < 0 || number >= TRACED_NUMBERS) return 0;
  return (wanted_calls[compat & 1][(__u32)number / 64 % (TRACED_NUMBERS / 64)] >>
          ((__u32)number % 64)) &
         1;
}

static _Bool is_wanted_cpu(void) {
  __u32 cpu = bpf_get_smp_processor_id();
  if (!filters_cpus) return 1;
  return cpu < TRACED_CPUS && ((wanted_cpus[cpu / 64 % (TRACED_CPUS / 64)] >> (cpu % 64)) & 1);
}

static _Bool is_wanted_cgroup(void) {
  if (wanted_cgroup_count == 0) return 1;
  for (__u32 level = 0; level < TRACED_CGROUP_DEPTH; ++level) {
    __u64 id = bpf_get_current_ancestor_cgroup_id((__s32)level);
    if (id == 0) return 0;
    for (__u32 i = 0; i < TRACED_CGROUPS; ++i)
      if (i < wanted_cgroup_count && wanted_cgroups[i] == id) return 1;
  }
  return 0;
}

static _Bool is_execve(__u32 compat, __s64 number) {
  return number == (compat ? compat_execve : native_execve);
}

/// Whether the running thread's call is to be traced when it begins.
static _Bool begins_wanted(__u32 compat, __s64 number) {
  // A workload is followed from its first successful execve, inclusive.
  if (enabled != FOLLOW_ON &&
      !(enabled == FOLLOW_OFF && enable_on_exec && is_execve(compat, number)))
    return 0;
  return is_wanted(compat, number) && is_followed() && is_wanted_cpu() && is_wanted_cgroup();
}

/// Whether the end of the running thread's call is to be traced. A successful execve has execve's
/// number at its end, even if it was an execveat; a return from a signal handler has none.
static _Bool ends_wanted(__u32 compat, __s64 number) {
  _Bool may_be_other = number < 0 || is_execve(compat, number);
  return enabled == FOLLOW_ON && (may_be_other || is_wanted(compat, number)) && is_followed();
}

/// Whether the running program is a 32-bit one, whatever kind of call it last made: its addresses
/// have 32 bits. (Which thread flag says so differs between kernels.)
static _Bool is_32_bit_program(void) {
  struct mm_struct* mm = bpf_get_current_task_btf()->mm;
  return mm && mm->task_size >> 32 == 0;
}

static _Bool is_error(__s64 result) {
  return result < 0 && result >= -4095;
}

/// syscalls:sys_enter_NAME and sys_exit_NAME, as perf-event BPF programs see them: they cost
/// nothing for other calls.
struct own_tracepoint {
  __u64 common;
  __u32 number;
  __u32 unused;
  __u64 result;  // for sys_exit; otherwise the arguments, as many as there are
};

/// What the including program does at the end of a call.
static int leave(__s64 result, __s64 number, __u32 compat);

SEC("tp_btf/sys_exit")
int on_exit(const __u64* context) {
  _Bool compat = is_compat();
  if (only_compat && !compat) return 0;
  return leave((__s64)context[1], number_in((const void*)context[0]), compat);
}

SEC("tp")
int on_own_exit(const struct own_tracepoint* context) {
  return leave((__s64)context->result, context->number, 0);
}
