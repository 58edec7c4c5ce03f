// What the walker's step through CPython's frames (python_frames.bpf.h) shares with its loader.
#pragma once

enum {
  PYTHON_OBJECTS = 64,       // files that contain an interpreter
  PYTHON_CODES = 1 << 15,    // code objects of all processes that are known at a time
  PYTHON_NAME_BYTES = 256,   // of a function's qualified name, as stored; longer ones are cut
  PYTHON_FILE_BYTES = 512,   // likewise of a file's
  PYTHON_LINE_BYTES = 16384  // of the table of lines
};

/// The form of a code object's table of lines.
enum python_line_table {
  PYTHON_LOCATIONS,   // co_linetable of 3.11 and later
  PYTHON_RANGES,      // co_linetable of 3.10 (PEP 626)
  PYTHON_LINE_STARTS  // co_lnotab of 3.8 and 3.9
};

/// Which frames one activation of the interpreter's loop runs, from the innermost one on.
enum python_activation {
  PYTHON_IS_ENTRY,  // up to the one whose byte `frame_kind` is not 0 (3.11)
  PYTHON_SHIM,  // up to the one before the frame that the loop has on its own stack (3.12, 3.13)
  PYTHON_ONE_FRAME  // one, which the loop's stack or registers refer to (3.8 to 3.10)
};

/// Where an interpreter keeps what is read, in bytes from the start of the structure that the name
/// begins with. The addresses are relative to where offset 0 of the file would be mapped.
struct python_layout {
  __u64 runtime;    // _PyRuntime
  __u64 code_type;  // PyCode_Type
  // PYTHON_ONE_FRAME: the loop's function, as far as its symbol says, and the bytes of its stack
  // frame; 0 if they vary.
  __u64 loop_start, loop_end;
  __u32 loop_bytes;
  __u32 activation;       // python_activation
  __u32 runtime_current;  // 0: the current thread's state is not there
  __u32 runtime_key;      // Py_tss_t of a thread's state
  __u32 thread_id;        // pthread_t
  // Where other interpreters' states of the thread are, if `runtime_current` is 0.
  __u32 thread_interpreter, thread_next;
  __u32 interpreter_threads, interpreter_next;
  __u32 thread_activation;  // _PyCFrame of the innermost activation; 0: not in this version
  __u32 thread_frame;       // the innermost frame, if there are no activations
  __u32 activation_frame;   // likewise, of an activation
  __u32 activation_outer;   // the activation that called this one
  __u32 frame_outer;
  __u32 frame_code;
  __u32 frame_instruction;  // a pointer; PYTHON_ONE_FRAME: an int, counted from the first one
  __u32 unit_bytes;         // PYTHON_ONE_FRAME: in which that int counts, per code unit
  __u32 frame_kind;         // a byte
  __u32 code_first_line;
  __u32 code_file, code_name, code_lines;
  __u32 line_table;  // python_line_table
  __u32 code_units;  // where they begin
  __u32 text_ascii;  // where the characters of a compact string begin, if it is ASCII
  __u32 text_other;  // and if it is not
};

/// An address of a chain that stands for a frame of Python: bit 63, the code object's number, and
/// how many code units lie before the instruction.
enum { PYTHON_UNIT_BITS = 24, PYTHON_CODE_BITS = 39, PYTHON_CPU_BITS = 12 };
#define PYTHON_FRAME (1ULL << 63)
#define PYTHON_NO_UNIT ((1u << PYTHON_UNIT_BITS) - 1)  // at no instruction yet

/// What could not be read: such frames have number 0.
enum python_loss {
  PYTHON_NO_MEMORY,  // memory of the process that is not present
  PYTHON_NOT_CODE,   // there is something else where a code object should be
  PYTHON_NO_ROOM,    // for the description of a code object
  PYTHON_LOSSES
};

/// A code object that was met for the first time.
struct python_code {
  __u64 number;  // of this code object, in this process; the low PYTHON_CPU_BITS are a CPU's
  __u64 memory;  // identifies the process's memory: another one after an exec
  __u32 pid;
  __u32 first_line;
  __u32 line_bytes;                // of the whole table
  __u32 name_length, file_length;  // in characters
  __u8 name_width, file_width;     // bytes per character
  __u8 line_table;                 // python_line_table
  __u8 zero;
  __u8 name[PYTHON_NAME_BYTES];
  __u8 file[PYTHON_FILE_BYTES];
  __u8 lines[PYTHON_LINE_BYTES];  // as many as there are, or fit
};
enum { PYTHON_CODE_HEADER = 40 + PYTHON_NAME_BYTES + PYTHON_FILE_BYTES };  // before `lines`
