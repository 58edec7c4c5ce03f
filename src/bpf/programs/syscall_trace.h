/* What syscall_trace.bpf.c, its loader and the reader of its records agree on. Integers are in host
 * byte order. */
#pragma once

#include "bpf/programs/traced_calls_settings.h"

/* A record begins with this, followed by pieces of memory. */
struct trace_record {
  __u8 flags; /* enum trace_record_flags */
  __u8 compat;
  __u16 number;
  __u32 cpu;
  __s32 pid, tid;
  __u64 time_ns;  /* when it was written; with an exit: when the call returned */
  __u64 entry_ns; /* with an entry */
  __s64 result;   /* with an exit */
  __u64 args[6];  /* with an entry */
  char comm[16];
};

enum trace_record_flags {
  TRACE_HAS_ENTRY = 1,
  TRACE_HAS_EXIT = 2,
  TRACE_MEMORY_CUT = 4, /* more pieces than there was room for */
};

/* A piece of memory; its bytes follow, zero-padded to a multiple of eight. */
struct trace_piece {
  __u64 address;
  __u32 wanted; /* bytes that exist; more than `size`: truncated */
  __u16 size;
  __u8 part;
  __u8 arg; /* and enum trace_piece_flags */
};

enum trace_piece_flags { TRACE_ARG_MASK = 7, TRACE_AT_EXIT = 0x40, TRACE_FAULT = 0x80 };

/* Memory of a call: pieces may begin below the first of these, and have at most as many bytes as
 * the second. */
#define TRACE_PIECES_BEGIN 2048
#define TRACE_PIECE_BYTES 4096
#define TRACE_MEMORY_BYTES (TRACE_PIECES_BEGIN + TRACE_PIECE_BYTES + 64)

/* The part of a piece that says what a descriptor refers to when the call begins: struct trace_file
 * and names, once for each file that a thread uses. Its address is a label for that file, not an
 * address; from then on a piece of the same label without bytes says that it is still that one. */
#define TRACE_FILE_PART 255
struct trace_file {
  __u64 inode;
  __u8 flags; /* enum trace_file_flags */
  __u8 unused[7];
  char type[16]; /* of its file system: "ext4", "sockfs" */
                 /* Names follow, from the file up to the root, each ended by a NUL. */
};

enum trace_file_flags {
  TRACE_FILE_DELETED = 1,
  TRACE_FILE_CUT = 2,  /* there are more names */
  TRACE_FILE_ALONE = 4 /* the last name is in no directory: a pipe, a socket, a memfd */
};

#define TRACE_FILE_NAMES 32       /* steps towards the root */
#define TRACE_FILE_BYTES 1024     /* no further name begins beyond this */
#define TRACE_FILE_NAME_BYTES 256 /* of one name, with its NUL */
/* Descriptors whose files a thread remembers to have sent, by their lowest bits. */
#define TRACE_FILE_SLOTS 16

/* What is read for a call: MemoryShape of trace/arguments/syscall_table.h, in its order. */
enum trace_shape {
  TRACE_NOTHING,
  TRACE_FIXED,
  TRACE_STRING,
  TRACE_COUNTED,
  TRACE_RESULT,
  TRACE_POINTED,
  TRACE_STRING_ARRAY,
  TRACE_IOVEC,
  TRACE_MSGHDR,
  TRACE_MMSGHDR,
};

struct trace_rule {
  __u8 arg;
  __u8 at_exit;
  __u8 shape; /* enum trace_shape */
  __u8 length_arg;
  __u8 pointer_bytes;
  __u8 max_elements;
  __u16 element_bytes;
  __u16 max_bytes;
  __u16 unused;
};

#define TRACE_RULES 8
#define TRACE_ELEMENTS 32
/* Parts of a message (MessagePart of trace/arguments/syscall_table.h). */
enum trace_message_part {
  TRACE_MESSAGE_NAME = 1,
  TRACE_MESSAGE_CONTROL = 2,
  TRACE_MESSAGE_IOVEC = 3,
  TRACE_MESSAGE_DATA = 4
};

struct trace_rules {
  __u8 entry_count, exit_count; /* of `rules`, in this order */
  __u8 descriptors;             /* a bit for each argument that is a descriptor */
  __u8 unused[5];
  struct trace_rule rules[TRACE_RULES];
};

/* Indexes into the rules map and the losses map. */
#define TRACE_CALL_SLOT(compat, number) ((compat) * TRACED_NUMBERS + (number))
#define TRACE_CALL_SLOTS (TRACED_ABIS * TRACED_NUMBERS)
#define TRACE_RINGS 64
