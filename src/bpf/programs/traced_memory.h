// Reads what a call's arguments point to: the BPF side of a call's rules. Nothing is read that
// would have to wait: a page that is not in memory is a fault. (The kernel has paged it in once it
// has used the address itself, so what faults at a call's entry is read again at its exit.)
//
// The non-static functions are verified separately, independent of their callers, so that the
// verifier's work is the sum of theirs, not the product.
#pragma once

#include "bpf/programs/syscall_trace.h"

/// A file that was sent with its names, and what tells it from any other that the descriptor may
/// refer to later. (The kernel uses the memory of a closed one again, so addresses alone do not.)
struct sent_file {
  __u64 label;  // 0: none
  __u64 mount, dentry, name_hash, inode;
  __u32 fd;
  __u32 is_deleted;
};

/// A thread's call, from entry to exit.
struct pending_call {
  struct trace_record record;
  __u8 memory[TRACE_MEMORY_BYTES];  // pieces, after the record, as they are sent
  __u32 memory_size;
  __u32 files_size;  // the first of them: what its descriptors refer to
  struct sent_file files[TRACE_FILE_SLOTS];
  __u8 files_unsent;  // `files` holds some whose names have not reached a ring
  __u8 in_call;
  __u8 faulted;
  __u8 rules_at_exit;
  __u8 calls_since_pace;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, TRACE_CALL_SLOTS);
  __type(key, __u32);
  __type(value, struct trace_rules);
} rules SEC(".maps");

/// A piece's label in one number, because a function can have at most five arguments.
#define PIECE_LABEL(arg, part) ((__u32)(arg) | (__u32)(part) << 8)

static __u32 labelled_arg(const struct trace_rule* rule) {
  return rule->arg | (rule->at_exit ? TRACE_AT_EXIT : 0);
}

/// Reserves a piece. Its bytes are not read yet.
static struct trace_piece* new_piece(struct pending_call* call, __u64 address, __u32 label) {
  __u32 at = call->memory_size;
  if (at >= TRACE_PIECES_BEGIN) {
    call->record.flags |= TRACE_MEMORY_CUT;
    return 0;
  }
  struct trace_piece* piece = (struct trace_piece*)&call->memory[at];
  piece->address = address;
  piece->wanted = 0;
  piece->size = 0;
  piece->arg = (__u8)label;
  piece->part = (__u8)(label >> 8);
  return piece;
}

static void keep_piece(struct pending_call* call, struct trace_piece* piece, __u32 size,
                       __u32 wanted) {
  piece->size = (__u16)size;
  piece->wanted = wanted;
  call->memory_size += (sizeof(*piece) + size + 7) & ~7u;
}

static void keep_fault(struct pending_call* call, struct trace_piece* piece, __u32 wanted) {
  piece->arg |= TRACE_FAULT;
  call->faulted = 1;
  keep_piece(call, piece, 0, wanted);
}

/// The first `limit` of `wanted` bytes.
__attribute__((noinline)) int add_bytes(struct pending_call* call, __u64 address, __u64 wanted,
                                        __u32 limit, __u32 label) {
  if (!call || address == 0) return 0;
  struct trace_piece* piece = new_piece(call, address, label);
  if (!piece) return 0;
  if (wanted > 0x7fffffff) wanted = 0x7fffffff;
  __u32 size = wanted < limit ? (__u32)wanted : limit;
  if (size > TRACE_PIECE_BYTES) size = TRACE_PIECE_BYTES;
  if (size != 0 && bpf_probe_read_user(piece + 1, size, (const void*)address) != 0)
    keep_fault(call, piece, (__u32)wanted);
  else
    keep_piece(call, piece, size, (__u32)wanted);
  return 0;
}

/// A text without its terminating NUL; if it is longer than `limit`, `wanted` is one more than
/// that.
__attribute__((noinline)) int add_string(struct pending_call* call, __u64 address, __u32 limit,
                                         __u32 label) {
  if (!call || address == 0) return 0;
  struct trace_piece* piece = new_piece(call, address, label);
  if (!piece) return 0;
  // With its NUL, and one more byte to see whether it continues.
  __u32 room = limit + 2;
  if (room > TRACE_PIECE_BYTES) room = TRACE_PIECE_BYTES;
  long read = bpf_probe_read_user_str(piece + 1, room, (const void*)address);
  if (read < 0 || read > TRACE_PIECE_BYTES) {
    keep_fault(call, piece, 1);
    return 0;
  }
  __u32 length = read > 0 ? (__u32)read - 1 : 0;
  keep_piece(call, piece, length > limit ? limit : length, length);
  return 0;
}

static void add_kernel_string(struct pending_call* call, const char* text, __u32 limit,
                              __u32 label) {
  struct trace_piece* piece = new_piece(call, (__u64)text, label);
  if (!piece) return;
  if (limit > TRACE_PIECE_BYTES) limit = TRACE_PIECE_BYTES;
  long read = bpf_probe_read_kernel_str(piece + 1, limit, text);
  if (read > 0 && read <= TRACE_PIECE_BYTES)
    keep_piece(call, piece, (__u32)read - 1, (__u32)read - 1);
  else
    keep_fault(call, piece, 1);
}

/// An address or a length in the program's memory: 4 or 8 bytes.
__attribute__((noinline)) __u64 read_word(__u64 address, __u32 bytes) {
  __u64 word = 0;
  if (bytes == 4) {
    __u32 half = 0;
    return bpf_probe_read_user(&half, sizeof(half), (const void*)address) == 0 ? half : 0;
  }
  return bpf_probe_read_user(&word, sizeof(word), (const void*)address) == 0 ? word : 0;
}

/// Addresses up to a null pointer, and the texts they point to.
__attribute__((noinline)) int add_string_array(struct pending_call* call,
                                               const struct trace_rule* rule, __u64 address) {
  if (!call || !rule || address == 0) return 0;
  __u32 step = rule->pointer_bytes, arg = labelled_arg(rule), limit = rule->max_bytes;
  __u32 most = rule->max_elements < TRACE_ELEMENTS ? rule->max_elements : TRACE_ELEMENTS;
  __u32 count = 0;
  for (__u32 i = 0; i <= TRACE_ELEMENTS; ++i) {
    if (i > most || read_word(address + i * step, step) == 0) break;
    ++count;
  }
  add_bytes(call, address, count * step, most * step, PIECE_LABEL(arg, 0));
  for (__u32 i = 0; i < TRACE_ELEMENTS; ++i) {
    if (i >= count || i >= most) break;
    add_string(call, read_word(address + i * step, step), limit, PIECE_LABEL(arg, i + 1));
  }
  return 0;
}

/// A text followed by others: returns its length including the NUL; 0: it could not be read.
__attribute__((noinline)) int add_row_text(struct pending_call* call, __u64 address, __u32 limit,
                                           __u32 label) {
  struct trace_piece* piece = call ? new_piece(call, address, label) : 0;
  if (!piece) return 0;
  long read = bpf_probe_read_user_str(piece + 1, TRACE_PIECE_BYTES, (const void*)address);
  if (read <= 0 || read > TRACE_PIECE_BYTES) return 0;
  __u32 length = (__u32)read - 1;
  keep_piece(call, piece, length < limit ? length : limit, length);
  return (int)read;
}

__attribute__((noinline)) int put_address(struct pending_call* call, __u32 at, __u64 address,
                                          __u32 bytes) {
  if (!call || at >= TRACE_PIECES_BEGIN) return 0;
  __builtin_memcpy(&call->memory[at], &address, 4);
  if (bytes == 8) __builtin_memcpy(&call->memory[at], &address, 8);
  return 0;
}

/// Consecutive texts, presented as an array of them, with their addresses in part 0.
__attribute__((noinline)) int add_string_row(struct pending_call* call,
                                             const struct trace_rule* rule, __u64 address,
                                             __u32 count) {
  if (!call || !rule) return 0;
  __u32 step = rule->pointer_bytes, arg = labelled_arg(rule), limit = rule->max_bytes;
  __u32 most = rule->max_elements < TRACE_ELEMENTS ? rule->max_elements : TRACE_ELEMENTS;
  __u32 array = call->memory_size + sizeof(struct trace_piece);
  struct trace_piece* piece = new_piece(call, address, PIECE_LABEL(arg, 0));
  if (!piece) return 0;
  keep_piece(call, piece, (count < most ? count : most) * step, count * step);
  for (__u32 i = 0; i < TRACE_ELEMENTS; ++i) {
    if (i >= count || i >= most) break;
    put_address(call, array + i * step, address, step);
    int size = add_row_text(call, address, limit, PIECE_LABEL(arg, i + 1));
    if (size <= 0) break;
    address += (__u32)size;
  }
  return 0;
}

struct vector_place {
  __u64 address, count;
  __u64 most_bytes;  // of all buffers together: at exit, what the call moved
  __u32 array_part, data_part;
};

/// An array of struct iovec, and the start of each buffer.
__attribute__((noinline)) int add_vector(struct pending_call* call, const struct trace_rule* rule,
                                         const struct vector_place* place) {
  if (!call || !rule || !place || place->address == 0) return 0;
  __u32 step = rule->pointer_bytes, arg = labelled_arg(rule), limit = rule->max_bytes;
  __u32 most = rule->max_elements < TRACE_ELEMENTS ? rule->max_elements : TRACE_ELEMENTS;
  __u64 left = place->most_bytes, base = place->address, count = place->count;
  __u32 part = place->data_part;
  if (count > 1024) count = 1024;  // UIO_MAXIOV
  add_bytes(call, base, count * 2 * step, most * 2 * step, PIECE_LABEL(arg, place->array_part));
  for (__u32 i = 0; i < TRACE_ELEMENTS; ++i) {
    if (i >= count || i >= most || left == 0) break;
    __u64 bytes = read_word(base + (2 * i + 1) * step, step);
    if (bytes > left) bytes = left;
    left -= bytes;
    add_bytes(call, read_word(base + 2 * i * step, step), bytes, limit, PIECE_LABEL(arg, part + i));
  }
  return 0;
}

/// struct msghdr: its members are one pointer apart; the two ints are padded to that size.
__attribute__((noinline)) int add_message(struct pending_call* call, const struct trace_rule* rule,
                                          __u64 address, __s64 most_bytes) {
  if (!call || !rule || address == 0) return 0;
  __u32 step = rule->pointer_bytes, arg = labelled_arg(rule);
  add_bytes(call, address, 7 * step, 7 * step, PIECE_LABEL(arg, 0));
  __u32 name_bytes = (__u32)read_word(address + step, 4);
  add_bytes(call, read_word(address, step), name_bytes, 128, PIECE_LABEL(arg, TRACE_MESSAGE_NAME));
  __u64 control_bytes = read_word(address + 5 * step, step);
  add_bytes(call, read_word(address + 4 * step, step), control_bytes, 128,
            PIECE_LABEL(arg, TRACE_MESSAGE_CONTROL));
  struct vector_place place = {
      .address = read_word(address + 2 * step, step),
      .count = read_word(address + 3 * step, step),
      .most_bytes = (__u64)most_bytes,
      .array_part = TRACE_MESSAGE_IOVEC,
      .data_part = TRACE_MESSAGE_DATA,
  };
  add_vector(call, rule, &place);
  return 0;
}

static __u64 argument(const struct pending_call* call, __u32 index) {
  return index < 6 ? call->record.args[index] : 0;
}

/// Applies one rule. `result`: the call's; at entry there is none, and no bound on what it moves.
__attribute__((noinline)) int read_rule(struct pending_call* call, const struct trace_rule* rule,
                                        __s64 result) {
  if (!call || !rule) return 0;
  __u64 address = argument(call, rule->arg);
  __u32 label = PIECE_LABEL(labelled_arg(rule), 0), unit = rule->element_bytes,
        limit = rule->max_bytes;
  switch (rule->shape) {
    case TRACE_FIXED:
      add_bytes(call, address, unit, limit, label);
      break;
    case TRACE_STRING:
      add_string(call, address, limit, label);
      break;
    case TRACE_COUNTED:
      add_bytes(call, address, (__u32)argument(call, rule->length_arg) * (__u64)unit, limit, label);
      break;
    case TRACE_RESULT:
      add_bytes(call, address, (__u64)result * unit, limit, label);
      break;
    case TRACE_POINTED:
      add_bytes(call, address, read_word(argument(call, rule->length_arg), 4), limit, label);
      break;
    case TRACE_STRING_ARRAY:
      add_string_array(call, rule, address);
      break;
    case TRACE_IOVEC: {
      struct vector_place place = {
          .address = address,
          .count = argument(call, rule->length_arg),
          .most_bytes = (__u64)result,
          .array_part = 0,
          .data_part = 1,
      };
      add_vector(call, rule, &place);
      break;
    }
    case TRACE_MSGHDR:
      add_message(call, rule, address, result);
      break;
    case TRACE_MMSGHDR:
      // Its first element begins with a struct msghdr, followed by the number of bytes moved.
      if (rule->at_exit) result = (__u32)read_word(address + 7 * rule->pointer_bytes, 4);
      add_message(call, rule, address, result);
      break;
  }
  return 0;
}

/// Reads what is to be read at entry.
static void read_at_entry(struct pending_call* call, const struct trace_rules* all) {
  for (__u32 i = 0; i < TRACE_RULES; ++i) {
    if (i >= all->entry_count) break;
    read_rule(call, &all->rules[i], 0x7fffffff);
  }
}

/// Reads what is to be read at exit, and what was not in memory at entry.
static void read_at_exit(struct pending_call* call, __s64 result) {
  __u32 slot = TRACE_CALL_SLOT(call->record.compat & 1, call->record.number);
  const struct trace_rules* all = bpf_map_lookup_elem(&rules, &slot);
  if (!all) return;
  if (call->faulted) {
    call->faulted = 0;
    call->memory_size = call->files_size;
    read_at_entry(call, all);
  }
  if (is_error(result)) return;
  for (__u32 i = 0; i < TRACE_RULES; ++i) {
    __u32 place = all->entry_count + i;
    if (i >= all->exit_count || place >= TRACE_RULES) break;
    read_rule(call, &all->rules[place], result);
  }
}

/// A successful execve's memory is gone. What could not be read before is read from where the
/// kernel has put it: the file name, and the arguments, which are consecutive in the new program's
/// memory.
static void read_from_program(struct pending_call* call, const struct linux_binprm* program,
                              const struct task_struct* task) {
  __u32 slot = TRACE_CALL_SLOT(call->record.compat & 1, call->record.number);
  const struct trace_rules* all = bpf_map_lookup_elem(&rules, &slot);
  call->faulted = 0;
  call->memory_size = call->files_size;
  if (!all) return;
  _Bool arguments_done = 0;
  const struct mm_struct* memory = BPF_CORE_READ(task, mm);
  __u64 texts = BPF_CORE_READ(memory, arg_start);
  for (__u32 i = 0; i < TRACE_RULES; ++i) {
    if (i >= all->entry_count) break;
    const struct trace_rule* rule = &all->rules[i];
    if (rule->shape == TRACE_STRING)
      add_kernel_string(call, BPF_CORE_READ(program, filename), rule->max_bytes,
                        PIECE_LABEL(rule->arg, 0));
    else if (rule->shape == TRACE_STRING_ARRAY && !arguments_done) {
      add_string_row(call, rule, texts, (__u32)BPF_CORE_READ(program, argc));
      arguments_done = 1;  // the environment follows them
    }
  }
}
