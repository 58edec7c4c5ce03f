// Which threads a BPF program works for: all; or some and the threads they start; or all but some.
// The fork hook is here. Those for exec and exit are in follow_hooks.h; a program that does more
// there defines its own, which call followed_exec() and followed_exit().
#pragma once

#include "bpf/programs/core_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Threads that can be followed at the same time. */
#define FOLLOWED_TASKS 65536
#define EXCLUDED_TASKS 4096
/* CPUs that cache their last answer; with more CPUs some share a slot, which only costs time. */
#define FOLLOW_ANSWERS 1024
/* Each has its own cache line. */
#define FOLLOW_ANSWER_WORDS 8

/// Off: an exec can still turn it on (enable_on_exec). Over: it cannot.
enum follow_state { FOLLOW_OFF = 0, FOLLOW_ON = 1, FOLLOW_OVER = 2 };

/// The followed threads, unless all are followed.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, FOLLOWED_TASKS);
  __type(key, __u32);
  __type(value, __u8);
} tasks SEC(".maps");

// Settings, written before the programs are attached. No _Bool: the skeleton's C++ users have no
// such type.
const volatile __u8 all_tasks = 0;
const volatile __u8 inherit = 1;
const volatile __u8 enable_on_exec = 0;

// State that the loading process can read and write at any time.
__u8 enabled = 0;              // enum follow_state
__u64 enabled_at_ns = 0;       // CLOCK_MONOTONIC
__u64 tasks_not_followed = 0;  // new threads for which `tasks` had no room

// A program in a loop of cheap calls pays for every instruction here, so the check per call is kept
// small: one cached answer per CPU to "is this thread followed", instead of a lookup in `tasks` per
// call.

/// The last question and answer on each CPU, in one word so that it is never torn: thread, the
/// generation of `tasks`, the answer.
__u64 answers[FOLLOW_ANSWERS * FOLLOW_ANSWER_WORDS];
__u32 generation = 0;  // incremented when `tasks` changes: earlier answers are void

#ifdef FOLLOW_ALL_BUT_SOME
/// Threads, and processes with all their threads, that are left out.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, EXCLUDED_TASKS);
  __type(key, __u32);
  __type(value, __u8);
} excluded SEC(".maps");

static _Bool is_excluded(__u32 tid) {
  __u32 pid = (__u32)(bpf_get_current_pid_tgid() >> 32);
  return bpf_map_lookup_elem(&excluded, &tid) || bpf_map_lookup_elem(&excluded, &pid);
}
#define FOLLOWS_EACH_TASK 0
#else
static _Bool is_excluded(__u32 tid) {
  return 0;
}
#define FOLLOWS_EACH_TASK all_tasks
#endif

static __u32 current_tid(void) {
  return (__u32)bpf_get_current_pid_tgid();
}

static void follow(__u32 tid) {
  __u8 yes = 1;
  if (bpf_map_update_elem(&tasks, &tid, &yes, BPF_ANY) != 0)
    __sync_fetch_and_add(&tasks_not_followed, 1);
  __sync_fetch_and_add(&generation, 1);
}

/// Whether the running thread is followed.
static _Bool is_followed(void) {
  if (FOLLOWS_EACH_TASK) return 1;
  __u32 tid = current_tid();
  __u64 question = (__u64)tid << 32 | (generation & 0x7fffffff) << 1;
  __u64* answer = &answers[bpf_get_smp_processor_id() % FOLLOW_ANSWERS * FOLLOW_ANSWER_WORDS];
  __u64 known = *answer;
  if ((known & ~1ull) == question) return known & 1;
  _Bool yes = (all_tasks || bpf_map_lookup_elem(&tasks, &tid) != 0) && !is_excluded(tid);
  *answer = question | yes;
  return yes;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args* context) {
  if (all_tasks || !inherit) return 0;
  __u32 parent = (__u32)BPF_CORE_READ((struct task_struct*)context->args[0], pid);
  __u32 child = (__u32)BPF_CORE_READ((struct task_struct*)context->args[1], pid);
  if (bpf_map_lookup_elem(&tasks, &parent)) follow(child);
  return 0;
}

/// raw_tp/sched_process_exit
static void followed_exit(void) {
  __u32 tid = current_tid();
  if (all_tasks) {
    // Its tid may be reused, by a thread of another process.
    if (!FOLLOWS_EACH_TASK) __sync_fetch_and_add(&generation, 1);
    return;
  }
  if (bpf_map_delete_elem(&tasks, &tid) == 0) __sync_fetch_and_add(&generation, 1);
}

/// raw_tp/sched_process_exec. Returns whether the thread is followed.
static _Bool followed_exec(struct bpf_raw_tracepoint_args* context) {
  __u32 tid = current_tid();
  __u32 old_tid = (__u32)context->args[1];
  if (!all_tasks && !bpf_map_lookup_elem(&tasks, &old_tid)) return 0;
  // A thread that is not the thread group leader takes over the leader's id.
  if (tid != old_tid && !all_tasks) follow(tid);
  if (enable_on_exec && enabled == FOLLOW_OFF) {
    enabled_at_ns = bpf_ktime_get_ns();
    enabled = FOLLOW_ON;
  }
  return 1;
}
