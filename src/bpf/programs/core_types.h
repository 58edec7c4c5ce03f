// The kernel's types as far as our BPF programs look into them. Only names of structures and
// members matter: where a member lies is put in when a program is loaded, from the running kernel's
// BTF (CO-RE). So one build runs on every kernel that has these members, whatever else its
// structures hold; members that some kernels lack are asked for with bpf_core_field_exists() first.
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
// What <bpf/bpf_helper_defs.h> names in its signatures.
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
};
enum { BPF_ANY = 0 };

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct thread_info {
  unsigned long flags;
  __u32 status;  // x86
} KERNEL_TYPE;

struct task_struct {
  struct thread_info thread_info;
  __s32 pid;
  __s32 tgid;
} KERNEL_TYPE;

/// Registers at a system call, by architecture. The part behind ___ tells flavours of one kernel
/// type apart.
struct pt_regs___x86 {
  unsigned long orig_ax;
} KERNEL_TYPE;
struct pt_regs___arm64 {
  __s32 syscallno;
} KERNEL_TYPE;

/// What a raw tracepoint hands over.
struct bpf_raw_tracepoint_args {
  __u64 args[0];
};
