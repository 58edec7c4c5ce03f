// Where a system call's number and arguments are, by architecture and by what kind of program makes
// it.
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static _Bool is_x86(void) {
  return bpf_core_field_exists(struct pt_regs___x86, orig_ax);
}

/// A 32-bit program's call: its numbers mean other calls. The kernel's own system call tracepoints
/// keep silent for them.
static _Bool is_compat(void) {
  enum { kTsCompat = 2, kTif32Bit = 1 << 22 };
  struct task_struct* task = bpf_get_current_task_btf();
  if (is_x86()) return (task->thread_info.status & kTsCompat) != 0;
  return (task->thread_info.flags & kTif32Bit) != 0;
}

/// At the end of a call; negative: the thread returns from none. `registers`: of a tp_btf program's
/// context.
static __s64 number_in(const void* registers) {
  if (is_x86()) return (__s64)((const struct pt_regs___x86*)registers)->orig_ax;
  return ((const struct pt_regs___arm64*)registers)->syscallno;
}
