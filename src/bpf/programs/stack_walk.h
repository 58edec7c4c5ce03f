// What the program that walks user stacks (stack_walk.bpf.c) shares with its loader.
#pragma once

enum {
  WALK_MOST_FRAMES = 512,
  WALK_REGISTERS = 32,   // that rules may refer to, of any processor
  WALK_MOST_SAVED = 17,  // in a rule
  WALK_RULES = 16384,    // distinct rules, of all objects; number 0: nothing is known
  WALK_OBJECTS = 16384,  // objects that are known, with and without a table
  WALK_TABLES = 8192,    // objects with a table
  WALK_MOST_ROWS = 1 << 24,
};

/// What the walker must know of the processor. Register numbers are DWARF's.
struct walk_machine {
  __u8 registers;  // that it has
  __u8 stack_pointer, frame_pointer;
  __u8 return_address;  // the register, or the column in its place, whose value in the caller it is
  __u8 has_link_register;  // calls leave the address there: not every frame saves it
  __u8 page_shift;
};

/// Why a chain ends.
enum walk_end {
  WALK_OUTERMOST,   // complete
  WALK_NOT_MAPPED,  // the supposed return address is not in executable memory
  WALK_NO_RULE,     // no call frame information there, and no usable frame pointer
  WALK_BAD_FRAME,   // the information contradicts itself
  WALK_LIMIT,       // WALK_MOST_FRAMES
  WALK_NO_TABLE,    // the object's table is not loaded (yet), or only a reader understands it
  WALK_NO_MEMORY,   // the stack could not be read: its page is not present
  WALK_OTHER_MODE,  // 32-bit code
  WALK_ENDS,
};

/// An object, as the kernel tells one file from another. No inode: the vDSO, or the generated code
/// of the process `device`.
struct walk_object_key {
  __u64 inode;
  __u64 bytes;   // size of the file: an object that was written anew is another one
  __u32 device;  // dev_t of the kernel; of generated code: the process
  __u32 is_generated;
};

/// Until a request is answered, stacks are copied; for good if only readers can unwind the object.
/// What was asked for when its program began is asked for again, with more urgency, when it is met
/// by a walk before its table is there.
enum { WALK_REQUESTED = 1, WALK_LOADED = 2, WALK_WITHOUT_TABLE = 3, WALK_EXPECTED = 4 };

struct walk_object {
  __u32 state;
  __u32 table;  // index in the array of tables
  __u32 row_count;
  __u32 python;   // its interpreter's index in `pythons` plus 1; 0: it has none
  __u64 used_ns;  // CLOCK_MONOTONIC
  __u32 is_met;   // how often it was asked for with urgency
  __u32 ruby;     // like `python`, in `rubies`
};

/// The rule for the code from an offset in the file up to the next row.
struct walk_row {
  __u32 start;
  __u32 rule;
};

enum walk_cfa {
  WALK_CFA_PLUS,   // base + value
  WALK_CFA_DEREF,  // what is in memory at base + value, plus `extra`
  WALK_CFA_PLT,    // base + value, and 8 more from byte `extra` of an entry of 16 bytes on
};
enum walk_saved_how {
  WALK_AT_CFA,   // in memory at CFA + value
  WALK_IS_CFA,   // CFA + value itself
  WALK_AT_BASE,  // in memory at the second base register + value
  WALK_IS_BASE,  // the second base register + value
  WALK_LOST,
};
enum { WALK_NO_BASE = 255 };
enum { WALK_SIGNAL_FRAME = 1, WALK_IS_OUTERMOST = 2, WALK_NOT_EXPRESSIBLE = 4 };

struct walk_saved {
  __u8 reg;
  __u8 how;
  __u16 zero;
  __s32 value;
};

struct walk_rule {
  __u8 cfa;
  __u8 cfa_base;  // register
  __u8 base;      // register of WALK_AT_BASE and WALK_IS_BASE, or WALK_NO_BASE
  __u8 flags;
  __u32 saved_count;
  __s32 value;
  __s32 extra;
  struct walk_saved saved[WALK_MOST_SAVED];
};

/// The contents of a carrier's record, right in front of the sample that it belongs to. With
/// `stack_bytes`, that many bytes of stack are in place of the addresses: from the last multiple of
/// WALK_COPY_PIECE before the stack pointer on.
struct walk_chain {
  __u32 pid, tid;
  __u16 end;    // walk_end
  __u16 count;  // of addresses
  __u32 stack_bytes;
  struct walk_object_key object;  // of the last address
  __u64 addresses[WALK_MOST_FRAMES];
};
enum { WALK_CHAIN_HEADER = 40 };
enum { WALK_COPY_PIECE = 1024, WALK_COPY_PIECES = 31 };

/// A request to load an object's table.
struct walk_request {
  struct walk_object_key key;
  __u32 pid;
  __u32 zero;
  __u64 start, end;  // the mapping; zeros: the program that the process executes
};
