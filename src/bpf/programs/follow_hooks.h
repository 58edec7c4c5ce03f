// The hooks on exec and exit of programs that only keep there which threads they work for.
#pragma once

#include "bpf/programs/followed_tasks.h"

SEC("raw_tp/sched_process_exit")
int on_task_exit(struct bpf_raw_tracepoint_args* context) {
  followed_exit();
  return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  followed_exec(context);
  return 0;
}
