// Where a system call's number and arguments are, by architecture and by the kind of program that
// makes it.
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static _Bool is_x86(void) {
  return bpf_core_field_exists(struct pt_regs___x86, orig_ax);
}

/// Whether it is a 32-bit program's call: its numbers mean other calls. The kernel's own system
/// call tracepoints do not fire for them.
static _Bool is_compat(void) {
  enum { kTsCompat = 2, kTif32Bit = 1 << 22 };
  struct task_struct* task = bpf_get_current_task_btf();
  if (is_x86()) return (task->thread_info.status & kTsCompat) != 0;
  return (task->thread_info.flags & kTif32Bit) != 0;
}

/// At the end of a call; negative: the thread does not return from one. `registers`: from a tp_btf
/// program's context.
static __s64 number_in(const void* registers) {
  if (is_x86()) return (__s64)((const struct pt_regs___x86*)registers)->orig_ax;
  return ((const struct pt_regs___arm64*)registers)->syscallno;
}
