// What the walker's steps through the frames of interpreters share with their loader, whichever the
// interpreter is: functions, and the words that stand for their frames in a chain.
#pragma once

enum interpreter { INTERPRETER_PYTHON, INTERPRETER_RUBY, INTERPRETERS };

enum {
  INTERPRETER_OBJECTS = 64,  // files that contain an interpreter, of each kind
  CODES = 1 << 15,           // code objects of all processes that are known at a time
  CODE_NAME_BYTES = 256,     // of a function's name, as stored; longer ones are cut
  CODE_FILE_BYTES = 512,     // likewise of a file's
  CODE_LINE_BYTES = 16384    // of the table of lines
};

/// The form of a code object's table of lines.
enum code_line_table {
  PYTHON_LOCATIONS,    // co_linetable of 3.11 and later
  PYTHON_RANGES,       // co_linetable of 3.10 (PEP 626)
  PYTHON_LINE_STARTS,  // co_lnotab of 3.8 and 3.9
  RUBY_INSTRUCTIONS    // ruby_lines, and what it says
};

/// In place of the bytes per character: the text is UTF-8, or has no characters but bytes.
enum { CODE_TEXT_IS_BYTES = 0xff };

/// An address of a chain that stands for an interpreted frame: bit 63, the interpreter, the code
/// object's number, and how many code units lie before the instruction.
enum { CODE_UNIT_BITS = 24, CODE_NUMBER_BITS = 38, CODE_CPU_BITS = 12 };
#define INTERPRETED_FRAME (1ULL << 63)
#define CODE_NO_UNIT ((1u << CODE_UNIT_BITS) - 1)  // at no instruction yet

/// What could not be read: such frames have number 0.
enum code_loss {
  CODE_NO_MEMORY,  // memory of the process that is not present
  CODE_IS_OTHER,   // there is something else where a code object should be
  CODE_NO_ROOM,    // for the description of a code object
  CODE_LOSSES
};

/// A code object that was met for the first time.
struct code_description {
  __u64 number;  // of this code object, in this process; the low CODE_CPU_BITS are a CPU's
  __u64 memory;  // identifies the process's memory: another one after an exec
  __u32 pid;
  __u32 first_line;
  __u32 line_bytes;                // of the whole table
  __u32 name_length, file_length;  // in characters
  __u8 name_width, file_width;     // bytes per character
  __u8 line_table;                 // code_line_table
  __u8 interpreter;
  __u8 name[CODE_NAME_BYTES];
  __u8 file[CODE_FILE_BYTES];
  __u8 lines[CODE_LINE_BYTES];  // as many as there are, or fit
};
enum { CODE_HEADER = 40 + CODE_NAME_BYTES + CODE_FILE_BYTES };  // before `lines`

/// Begins a table of Ruby's; then come `kept_entries` of 12 bytes, in order of the instructions
/// that they are of, the first word a line, and the index that says which word has which: of the
/// first words nine to a __u64, seven bits each, then blocks of struct succ_dict_block (iseq.c).
struct ruby_lines {
  __u32 kept_entries;
  __u32 units;  // words of code
};
enum {
  RUBY_ENTRY_BYTES = 12,
  RUBY_FIRST_UNITS = 54,
  RUBY_FIRST_BYTES = 48,
  RUBY_BLOCK_UNITS = 512,
  RUBY_BLOCK_BYTES = 80
};
