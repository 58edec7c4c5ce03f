// What the walker's step through CRuby's frames (ruby_frames.bpf.h) shares with its loader.
#pragma once

enum { RUBY_LOOP_CALLS = 4 };

/// Where an interpreter keeps what is read, in bytes from the start of the structure that the name
/// begins with. The addresses are relative to where offset 0 of the file would be mapped.
struct ruby_layout {
  __u64
      thread_module;  // where the dynamic linker puts the number of the object's thread-local data
  __u64 thread_offset;  // of the current rb_execution_context_t's address, in that data
  __u64 loop_returns[RUBY_LOOP_CALLS];  // return addresses of calls of the loop; 0: no more
  __u32 context_stack, context_stack_words, context_frame;
  __u32 frame_bytes;
  __u32 frame_instruction, frame_code, frame_environment;
  __u32 code_body;
  __u32 body_units, body_code;  // how many words of code there are, and where
  __u32 body_path, body_name, body_first_line;
  __u32 body_entries, body_entry_count, body_entry_index;  // of the lines
};
