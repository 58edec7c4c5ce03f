// The exec and exit hooks of programs that only keep track of the followed threads there.
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
