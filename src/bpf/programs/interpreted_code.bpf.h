// Code objects of interpreters that the walker meets: each gets a number when it is met for the
// first time, and is described to the loader, with its name, its file and its lines.
//
// Included by stack_walk.bpf.c, after read_word().
#pragma once

enum { CODE_RING_BYTES = 1 << 21 };

struct thread_struct {
  unsigned long fsbase;
} KERNEL_TYPE;
struct task_struct___thread {
  struct thread_struct thread;
} KERNEL_TYPE;

struct code_key {
  __u64 memory;
  __u64 code;
  __u32 pid;
  __u32 zero;
};
/// What tells a code object from another one that was at its address before.
struct known_code {
  __u64 name, file, lines;
  __u64 number;
  __u32 first_line;
  __u32 zero;
};
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, CODES);
  __type(key, struct code_key);
  __type(value, struct known_code);
} known_codes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, CODE_RING_BYTES);
} described_codes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct code_description);
} code_descriptions SEC(".maps");

__u64 codes_lost[INTERPRETERS][CODE_LOSSES];

static void lose_code(__u32 interpreter, __u32 why) {
  if (interpreter < INTERPRETERS && why < CODE_LOSSES)
    __sync_fetch_and_add(&codes_lost[interpreter][why], 1);
}

static _Bool read_u32(__u64 address, __u32* value) {
  return bpf_probe_read_user(value, sizeof *value, (void*)address) == 0;
}

/// Where the C library keeps this thread's own data, on x86-64.
static __u64 thread_pointer(void) {
  struct task_struct___thread* task = (struct task_struct___thread*)bpf_get_current_task_btf();
  return BPF_CORE_READ(task, thread.fsbase);
}

static __u64 interpreted_frame(__u64 interpreter, __u64 number, __u32 unit) {
  return INTERPRETED_FRAME | interpreter << (CODE_UNIT_BITS + CODE_NUMBER_BITS) |
         number << CODE_UNIT_BITS | unit;
}

static struct code_key code_key_of(__u64 memory, __u64 code) {
  struct code_key key = {
      .memory = memory, .code = code, .pid = (__u32)(bpf_get_current_pid_tgid() >> 32)};
  return key;
}

/// The number of a code object that has been met; 0 if it, as it is now, has not.
static __u64 known_number(const struct code_key* key, const struct known_code* now) {
  struct known_code* known = bpf_map_lookup_elem(&known_codes, key);
  return known && known->name == now->name && known->file == now->file &&
                 known->lines == now->lines && known->first_line == now->first_line
             ? known->number
             : 0;
}

/// A description with a new number, which `known` gets, too; null if there is no room.
static struct code_description* new_description(const struct code_key* key,
                                                struct known_code* known, __u32 interpreter) {
  __u32 zero = 0, cpu = bpf_get_smp_processor_id();
  struct code_description* message = bpf_map_lookup_elem(&code_descriptions, &zero);
  if (!message || cpu >= 1u << CODE_CPU_BITS || message->number >> CODE_NUMBER_BITS != 0) {
    lose_code(interpreter, CODE_NO_ROOM);
    return 0;
  }
  // Numbers of one CPU follow one another.
  known->number = message->number = (message->number | ((1u << CODE_CPU_BITS) - 1)) + 1 + cpu;
  message->pid = key->pid;
  message->memory = key->memory;
  message->first_line = known->first_line;
  message->interpreter = (__u8)interpreter;
  return message;
}

/// Sends a description that has `bytes` of its table, at most CODE_LINE_BYTES. Returns its number;
/// 0 if there is no room.
static __u64 send_description(struct code_description* message, __u64 bytes,
                              const struct code_key* key, const struct known_code* known) {
  if (bpf_ringbuf_output(&described_codes, message, CODE_HEADER + bytes, BPF_RB_NO_WAKEUP) != 0) {
    lose_code(message->interpreter, CODE_NO_ROOM);
    return 0;
  }
  bpf_map_update_elem(&known_codes, key, known, BPF_ANY);
  return known->number;
}
