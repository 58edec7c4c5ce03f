// The walker's step through CPython: where a frame of the native stack runs the interpreter's loop,
// the Python frames that it runs take its place.
//
// Which frame does, its own stack says: every activation of the loop has a structure there that the
// thread's state points to (_PyCFrame, or since 3.13 the frame at which it was entered). So no
// symbol of the loop is needed, and a loop that has no Python frame yet, or none any more, stays as
// it is.
//
// Before 3.11 an activation runs one frame, and nothing on its stack says which. But the loop's
// function works with that frame until it returns, so it has the frame's address in a register that
// calls preserve, or on its stack. A native frame of that function which has neither has not begun
// to run the frame, or is done with it.
//
// x86-64 only: where a thread's pthread_t is, and which registers calls preserve. Included by
// stack_walk.bpf.c, after interpreted_code.bpf.h.
#pragma once

enum { PYTHON_OWNED_BY_STACK = 3 };  // pycore_frame.h: FRAME_OWNED_BY_CSTACK
enum { PYTHON_KEYS = 32 };           // that pthread_t holds itself
enum { PTHREAD_KEYS = 0x310 };       // glibc: specific_1stblock of struct pthread, 16 bytes each
enum { OBJECT_TYPE = 8, OBJECT_SIZE = 16 };  // object.h: ob_type, ob_size
enum { BYTES_DATA = 32 };                    // bytesobject.h: ob_sval
enum { TEXT_LENGTH = 16, TEXT_STATE = 32 };  // unicodeobject.h: PyASCIIObject
enum { TEXT_COMPACT = 1 << 5, TEXT_IS_ASCII = 1 << 6, TEXT_WIDTH_SHIFT = 2, TEXT_WIDTH_MASK = 7 };
enum { PYTHON_SEARCH_FRAMES = 512, PYTHON_SEARCH_STATES = 512 };
enum { LOOP_REGISTERS = 6, LOOP_WORDS = 64 };  // that are searched for the frame
enum {
  LOOP_SAVED_BYTES = 8 + 6 * 8,  // return address and the caller's registers: not the loop's own
  LOOP_PUSHED_BYTES = 64         // arguments of a call that is being made
};
/// The walk's position among the frames of Python.
struct python_walk {
  __u32 object;        // index in `pythons` plus 1; 0: none was met
  __u32 is_one_frame;  // its kind of activation
  __u64 base;          // where offset 0 of the object would be mapped
  __u64 thread_id;     // pthread_t
  __u64 thread;        // its state that is being walked
  __u64 next_thread;   // another state of this thread, to be walked after this one
  __u64 anchor;        // what the next activation has on its stack; 0: nothing
  __u64 frame;         // the next frame of the activation that is being walked; 0: none is
  __u64 outer;         // where to look for the next activation's frames
  __u64 memory;        // mm_struct
  // PYTHON_ONE_FRAME, of the native frame that is being left:
  __u32 in_python;       // it belongs to the interpreter's object
  __u32 kept_in_memory;  // a bit per register: `kept` is an address
  __u64 kept[LOOP_REGISTERS];
  __u64 stack[LOOP_WORDS];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, INTERPRETER_OBJECTS);
  __type(key, __u32);
  __type(value, struct python_layout);
} pythons SEC(".maps");

static void python_loses(__u32 why) {
  lose_code(INTERPRETER_PYTHON, why);
}

static _Bool is_own_thread(const struct python_layout* layout, __u64 thread, __u64 thread_id) {
  __u64 id;
  return thread != 0 && read_word(thread + layout->thread_id, &id) && id == thread_id;
}

/// Whether the frame is the one that an activation has on its stack.
static _Bool is_shim(const struct python_layout* layout, __u64 frame) {
  __u8 kind = 0;
  if (layout->activation != PYTHON_SHIM) return 0;
  return bpf_probe_read_user(&kind, 1, (void*)(frame + layout->frame_kind)) == 0 &&
         kind == PYTHON_OWNED_BY_STACK;
}

struct shim_search {
  __u64 frame;
  __u32 frame_outer, frame_kind;
};

static long search_shim(__u32 index, void* context) {
  struct shim_search* search = context;
  __u8 kind = 0;
  if (search->frame == 0) return 1;
  if (bpf_probe_read_user(&kind, 1, (void*)(search->frame + search->frame_kind))) search->frame = 0;
  if (kind == PYTHON_OWNED_BY_STACK) return 1;
  if (!read_word(search->frame + search->frame_outer, &search->frame)) search->frame = 0;
  return 0;
}

/// What the activation that `outer` tells of has on its stack; 0 if there is none.
static __u64 anchor_of(const struct python_layout* layout, __u64 outer) {
  if (outer == 0 || layout->activation == PYTHON_ONE_FRAME) return 0;
  if (layout->thread_activation != 0) {
    // The outermost structure belongs to the thread's state, not to an activation.
    __u64 next = 0;
    return read_word(outer + layout->activation_outer, &next) && next != 0 ? outer : 0;
  }
  struct shim_search search = {
      .frame = outer, .frame_outer = layout->frame_outer, .frame_kind = layout->frame_kind};
  bpf_loop(PYTHON_SEARCH_FRAMES, search_shim, &search, 0);
  return search.frame;
}

static void begin_thread(struct python_walk* p, const struct python_layout* layout, __u64 thread) {
  __u64 at = layout->thread_activation != 0 ? layout->thread_activation : layout->thread_frame;
  p->thread = thread;
  p->anchor = p->outer = 0;
  if (read_word(thread + at, &p->outer))
    p->anchor = anchor_of(layout, p->outer);
  else
    python_loses(CODE_NO_MEMORY);
}

struct state_search {
  __u64 thread, interpreter, thread_id;
  __u32 id_offset, thread_next, interpreter_threads, interpreter_next;
};

static long search_state(__u32 index, void* context) {
  struct state_search* search = context;
  __u64 id = 0;
  if (search->thread == 0) {
    if (!read_word(search->interpreter + search->interpreter_next, &search->interpreter) ||
        search->interpreter == 0)
      return 1;
    if (!read_word(search->interpreter + search->interpreter_threads, &search->thread))
      search->thread = 0;
    return 0;
  }
  if (read_word(search->thread + search->id_offset, &id) && id == search->thread_id) return 1;
  if (!read_word(search->thread + search->thread_next, &search->thread)) search->thread = 0;
  return 0;
}

/// The state that the thread has in an interpreter which is older than that of the state which was
/// walked, and so comes after it in the list; 0 if it has none.
static __u64 older_state(const struct python_walk* p, const struct python_layout* layout) {
  struct state_search search = {.thread = 0,
                                .thread_id = p->thread_id,
                                .id_offset = layout->thread_id,
                                .thread_next = layout->thread_next,
                                .interpreter_threads = layout->interpreter_threads,
                                .interpreter_next = layout->interpreter_next};
  if (layout->interpreter_threads == 0 || p->thread == 0 ||
      !read_word(p->thread + layout->thread_interpreter, &search.interpreter) ||
      search.interpreter == 0)
    return 0;
  bpf_loop(PYTHON_SEARCH_STATES, search_state, &search, 0);
  return is_own_thread(layout, search.thread, p->thread_id) ? search.thread : 0;
}

/// Becomes ready for the activation that `outer` tells of, or for those of another state of the
/// thread.
__noinline int next_activation(struct python_walk* p) {
  if (!p) return 0;
  __u32 index = p->object - 1;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  if (!layout) return 0;
  p->anchor = anchor_of(layout, p->outer);
  if (p->anchor == 0 && p->next_thread == 0) p->next_thread = older_state(p, layout);
  if (p->anchor == 0 && p->next_thread != 0) {
    begin_thread(p, layout, p->next_thread);
    p->next_thread = 0;
  }
  return 0;
}

/// The state that the thread was given first; that of a subinterpreter comes in front of it.
static __u64 first_thread_state(const struct python_layout* layout, __u64 runtime,
                                __u64 thread_id) {
  __u32 key = PYTHON_KEYS;
  __u64 thread = 0;
  if (!read_u32(runtime + layout->runtime_key + 4, &key) || key >= PYTHON_KEYS) return 0;
  if (!read_word(thread_id + PTHREAD_KEYS + key * 16 + 8, &thread)) return 0;
  return is_own_thread(layout, thread, thread_id) ? thread : 0;
}

/// Finds the thread's state, when the walk comes to an object with an interpreter. `base`: where
/// its first byte would be mapped.
__noinline int begin_python(struct python_walk* p, __u32 object, __u64 base) {
  __u32 index = object - 1;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  if (is_arm64 || !p || !layout) return 0;
  p->object = object;
  p->is_one_frame = layout->activation == PYTHON_ONE_FRAME;
  p->base = base;
  p->thread_id = thread_pointer();
  p->thread = p->next_thread = 0;
  p->anchor = p->frame = p->outer = 0;
  __u64 runtime = base + layout->runtime, current = 0;
  __u64 first = first_thread_state(layout, runtime, p->thread_id);
  if (layout->runtime_current != 0 && read_word(runtime + layout->runtime_current, &current) &&
      current != first && is_own_thread(layout, current, p->thread_id)) {
    p->next_thread = first;
    begin_thread(p, layout, current);
  } else if (first != 0) {
    begin_thread(p, layout, first);
  }
  return 0;
}

/// Reads at most `most` bytes of a string; its length in characters.
static __u32 read_text(const struct python_layout* layout, __u64 text, __u8* to, __u32 most,
                       __u8* width) {
  __u64 length = 0;
  __u32 state = 0;
  *width = 0;
  if (!read_word(text + TEXT_LENGTH, &length) || !read_u32(text + TEXT_STATE, &state)) return 0;
  if (!(state & TEXT_COMPACT)) return 0;
  __u32 kind = state >> TEXT_WIDTH_SHIFT & TEXT_WIDTH_MASK;
  if (kind != 1 && kind != 2 && kind != 4) return 0;
  __u64 bytes = length * kind;
  if (bytes > most) bytes = most;
  asm volatile("" : "+r"(bytes));
  if (bytes > most) return 0;
  __u64 at = text + (state & TEXT_IS_ASCII ? layout->text_ascii : layout->text_other);
  if (bpf_probe_read_user(to, (__u32)bytes, (void*)at)) return 0;
  *width = (__u8)kind;
  return length > 0xffffffff ? 0xffffffff : (__u32)length;
}

/// Describes a code object to the loader. Returns its number; 0 if that is not possible now.
static __u64 describe_code(const struct python_layout* layout, const struct code_key* key,
                           struct known_code* known) {
  struct code_description* message = new_description(key, known, INTERPRETER_PYTHON);
  if (!message) return 0;
  message->line_table = (__u8)layout->line_table;
  message->name_length =
      read_text(layout, known->name, message->name, CODE_NAME_BYTES, &message->name_width);
  message->file_length =
      read_text(layout, known->file, message->file, CODE_FILE_BYTES, &message->file_width);
  __u64 bytes = 0;
  if (message->name_width == 0 || message->file_width == 0 ||
      !read_word(known->lines + OBJECT_SIZE, &bytes)) {
    python_loses(CODE_NO_MEMORY);
    return 0;
  }
  message->line_bytes = (__u32)bytes;
  if (bytes > CODE_LINE_BYTES) bytes = CODE_LINE_BYTES;
  asm volatile("" : "+r"(bytes));
  if (bytes > CODE_LINE_BYTES) return 0;
  if (bpf_probe_read_user(message->lines, (__u32)bytes, (void*)(known->lines + BYTES_DATA))) {
    python_loses(CODE_NO_MEMORY);
    return 0;
  }
  return send_description(message, bytes, key, known);
}

/// The number of the code object at an address; 0 if nothing can be said about it.
__noinline __u64 code_number(struct python_walk* p, __u64 code) {
  if (!p) return 0;
  __u32 index = p->object - 1;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  if (!layout) return 0;
  __u64 type = 0;
  struct known_code now = {.number = 0};
  if (!read_word(code + OBJECT_TYPE, &type) || !read_word(code + layout->code_name, &now.name) ||
      !read_word(code + layout->code_file, &now.file) ||
      !read_word(code + layout->code_lines, &now.lines) ||
      !read_u32(code + layout->code_first_line, &now.first_line)) {
    python_loses(CODE_NO_MEMORY);
    return 0;
  }
  if (type != p->base + layout->code_type) {
    python_loses(CODE_IS_OTHER);
    return 0;
  }
  struct code_key key = code_key_of(p->memory, code);
  __u64 number = known_number(&key, &now);
  return number != 0 ? number : describe_code(layout, &key, &now);
}

/// The compiler may have moved parts of the loop away from its symbol: their stack frames have the
/// loop's size, too.
static _Bool may_be_loop(const struct python_layout* layout, __u64 offset, __u64 bytes) {
  if (bytes <= LOOP_SAVED_BYTES) return 0;
  if (offset - layout->loop_start < layout->loop_end - layout->loop_start) return 1;
  return layout->loop_bytes != 0 && bytes - layout->loop_bytes <= LOOP_PUSHED_BYTES;
}

static _Bool is_held(const struct python_walk* p, __u64 frame, __u32 words) {
  for (__u32 i = 0; i < LOOP_REGISTERS; ++i)
    if (p->kept[i] == frame) return 1;
  for (__u32 i = 0; i < LOOP_WORDS; ++i) {
    if (i >= words) break;
    if (p->stack[i] == frame) return 1;
  }
  return 0;
}

/// Like enter_activation(), for PYTHON_ONE_FRAME. `place`: where the native frame is.
__noinline int enter_loop(struct python_walk* p, __u64 place, __u64 sp, __u64 cfa) {
  if (!p) return 0;
  __u32 index = p->object - 1;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  __u64 frame = p->outer, own = cfa - sp - LOOP_SAVED_BYTES;
  if (!layout || frame == 0 || !may_be_loop(layout, place - p->base, cfa - sp)) return 0;
  if (own > sizeof p->stack) own = sizeof p->stack;
  asm volatile("" : "+r"(own));
  if (own > sizeof p->stack) return 0;
  if (bpf_probe_read_user(p->stack, (__u32)own, (void*)sp)) {
    python_loses(CODE_NO_MEMORY);
    return 0;
  }
  for (__u32 i = 0; i < LOOP_REGISTERS; ++i)
    if (p->kept_in_memory & (1u << i) && !read_word(p->kept[i], &p->kept[i])) p->kept[i] = 0;
  p->kept_in_memory = 0;
  if (!is_held(p, frame, (__u32)own / 8)) {
    // The innermost frame may be one that the loop has just finished or just begun.
    if (!read_word(frame + layout->frame_outer, &frame) || frame == 0) return 0;
    if (!is_held(p, frame, (__u32)own / 8)) return 0;
  }
  p->frame = frame;
  return 1;
}

/// Whether the native frame at `place`, whose stack is [sp, cfa), runs Python code, and which: then
/// next_frame() gives its frames.
static _Bool enter_activation(struct python_walk* p, __u64 place, __u64 sp, __u64 cfa) {
  __u32 index = p->object - 1;
  if (p->in_python) return enter_loop(p, place, sp, cfa);
  if (p->object == 0 || p->anchor < sp || p->anchor >= cfa) return 0;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  if (!layout) return 0;
  p->frame = p->outer;
  if (layout->thread_activation != 0 &&
      !read_word(p->anchor + layout->activation_frame, &p->frame)) {
    p->frame = 0;
    python_loses(CODE_NO_MEMORY);
  }
  if (is_shim(layout, p->frame)) p->frame = 0;
  return p->frame != 0;
}

/// Like next_frame(), for PYTHON_ONE_FRAME.
__noinline __u64 next_single_frame(struct python_walk* p) {
  if (!p) return 0;
  __u32 index = p->object - 1;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  if (!layout) return 0;
  __u64 frame = p->frame, code = 0, number = 0;
  __u32 instruction = 0, unit = CODE_NO_UNIT;
  p->frame = 0;
  p->outer = 0;
  if (!read_word(frame + layout->frame_code, &code) ||
      !read_u32(frame + layout->frame_instruction, &instruction) ||
      !read_word(frame + layout->frame_outer, &p->outer)) {
    python_loses(CODE_NO_MEMORY);
  } else {
    number = code_number(p, code);
    if (layout->unit_bytes == 2) instruction = (__u32)((__s32)instruction >> 1);
    if (instruction < CODE_NO_UNIT) unit = instruction;
  }
  if (p->outer == 0 && p->next_thread != 0) {
    begin_thread(p, layout, p->next_thread);
    p->next_thread = 0;
  }
  return interpreted_frame(INTERPRETER_PYTHON, number, unit);
}

/// What stands in the chain for the current frame; goes on to the one that called it.
__noinline __u64 next_frame(struct python_walk* p) {
  if (!p) return 0;
  __u32 index = p->object - 1;
  struct python_layout* layout = bpf_map_lookup_elem(&pythons, &index);
  if (!layout) return 0;
  if (layout->activation == PYTHON_ONE_FRAME) return next_single_frame(p);
  __u64 frame = p->frame, code = 0, instruction = 0, outer = 0;
  __u8 kind = 0;
  __u64 number = 0;
  __u32 unit = CODE_NO_UNIT;
  p->frame = 0;
  if (!read_word(frame + layout->frame_code, &code) ||
      !read_word(frame + layout->frame_instruction, &instruction) ||
      !read_word(frame + layout->frame_outer, &outer) ||
      bpf_probe_read_user(&kind, 1, (void*)(frame + layout->frame_kind))) {
    python_loses(CODE_NO_MEMORY);
    outer = 0;
  } else {
    number = code_number(p, code);
    __u64 units = (instruction - code - layout->code_units) / 2;
    if (units < CODE_NO_UNIT) unit = (__u32)units;
  }
  _Bool is_last =
      outer == 0 || (layout->activation == PYTHON_IS_ENTRY ? kind != 0 : is_shim(layout, outer));
  if (!is_last) {
    p->frame = outer;
    return interpreted_frame(INTERPRETER_PYTHON, number, unit);
  }
  if (layout->thread_activation != 0) {
    if (!read_word(p->anchor + layout->activation_outer, &p->outer)) p->outer = 0;
  } else if (outer == 0 || !read_word(outer + layout->frame_outer, &p->outer)) {
    p->outer = 0;
  }
  next_activation(p);
  return interpreted_frame(INTERPRETER_PYTHON, number, unit);
}
