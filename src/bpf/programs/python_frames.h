// What the walker's step through CPython's frames (python_frames.bpf.h) shares with its loader.
#pragma once

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
  __u32 line_table;  // code_line_table
  __u32 code_units;  // where they begin
  __u32 text_ascii;  // where the characters of a compact string begin, if it is ASCII
  __u32 text_other;  // and if it is not
};
