// The kernel's types as far as our BPF programs access them. Only names of structures and members
// matter: member offsets are filled in when a program is loaded, from the running kernel's BTF
// (CO-RE). So one build runs on every kernel that has these members, whatever else its structures
// contain; members that some kernels lack are checked with bpf_core_field_exists() first.
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
// Used in the signatures of <bpf/bpf_helper_defs.h>.
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
  BPF_MAP_TYPE_PERCPU_HASH = 5,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_STACK_TRACE = 7,
  BPF_MAP_TYPE_LRU_HASH = 9,
  BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
  BPF_MAP_TYPE_RINGBUF = 27,
  BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
  BPF_ANY = 0,
  BPF_NOEXIST = 1,
  BPF_F_NO_PREALLOC = 1,
  BPF_F_MMAPABLE = 1 << 10,
  BPF_F_INNER_MAP = 1 << 12
};
enum { BPF_F_USER_STACK = 1 << 8, BPF_F_FAST_STACK_CMP = 1 << 9 };  // for bpf_get_stackid()
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1, BPF_RB_NO_WAKEUP = 1, BPF_RB_AVAIL_DATA = 0 };

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct thread_info {
  unsigned long flags;
  __u32 status;  // x86
} KERNEL_TYPE;

struct mm_struct {
  unsigned long arg_start, arg_end, task_size;
} KERNEL_TYPE;
struct linux_binprm {
  int argc;
  const char* filename;
} KERNEL_TYPE;

struct task_struct {
  struct thread_info thread_info;
  __s32 pid;
  __s32 tgid;
  char comm[16];
  struct mm_struct* mm;
  struct fs_struct* fs;
  struct files_struct* files;
  unsigned int __state;  // since 5.14
} KERNEL_TYPE;
struct task_struct___before_5_14 {
  long state;
} KERNEL_TYPE;

/// The argument of an iterator over tasks.
struct bpf_iter_meta {
  struct seq_file* seq;
} KERNEL_TYPE;
struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;  // null at the end
} KERNEL_TYPE;

/// Registers at a system call, by architecture. The part after ___ distinguishes flavours of one
/// kernel type.
struct pt_regs___x86 {
  unsigned long bx, cx, dx, si, di, bp, r8, r9, r10, orig_ax;
} KERNEL_TYPE;
struct pt_regs___arm64 {
  __u64 regs[31];
  __s32 syscallno;
} KERNEL_TYPE;

/// Filled in by bpf_perf_event_read_value().
struct bpf_perf_event_value {
  __u64 counter;
  __u64 enabled;
  __u64 running;
};

/// The arguments of a raw tracepoint.
struct bpf_raw_tracepoint_args {
  __u64 args[0];
};
