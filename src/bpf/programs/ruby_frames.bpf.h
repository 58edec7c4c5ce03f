// The walker's step through CRuby: where a frame of the native stack runs the interpreter's loop,
// the Ruby frames that it runs take its place.
//
// A thread's Ruby frames are an array that grows downwards, on a stack of their own; a fiber has
// another one. An activation of the loop (vm_exec_core) runs those from one that is flagged as its
// last one inwards. The innermost of them is in a register that the loop has for it (DECL_SC_REG in
// vm_exec.c), and which calls preserve: r15, with the instruction in r14. The loop's function is
// static, and parts of it are elsewhere: a native frame is the loop's if it returns to behind a
// call of the loop. Wherever it calls something, it has a frame in r15. Where it was interrupted
// itself, it does if it has saved its caller's r15, and if no frame that would be the last one of
// another activation is inside of the one in r15: or it has not begun, or has ended.
//
// C functions have frames among those of Ruby; they are native frames of the stack, too, and stand
// in the chain as such.
//
// x86-64 only. Included by stack_walk.bpf.c, after interpreted_code.bpf.h.
#pragma once

enum { THREAD_TABLE = 8, THREAD_TABLE_ENTRY = 16 };  // glibc: tcbhead_t's dtv, dtv_t
enum { RUBY_IS_LAST = 0x20 };                        // vm_core.h: VM_FRAME_FLAG_FINISH
enum { RUBY_TYPE_MASK = 0x1f, RUBY_STRING = 5, RUBY_ARRAY = 7, RUBY_INTERNAL = 0x1a };  // T_…
enum { RUBY_CODE = RUBY_INTERNAL | 7 << 12, RUBY_CODE_MASK = 0xf01f };  // imemo_iseq
enum { RUBY_IS_ELSEWHERE = 1 << 13 };  // of a string; of an array it says the opposite
enum { RUBY_LENGTH_SHIFT = 14, RUBY_LENGTH_MASK = 31 };  // of a string that is within its object
enum { RUBY_DATA = 16, RUBY_FAR_STRING = 24, RUBY_FAR_ARRAY = 32 };
enum { RUBY_SEARCH_FRAMES = 512 };
enum {
  RUBY_KEPT_FRAME = 15,
  RUBY_KEPT_INSTRUCTION = 14
};  // registers of the loop, by DWARF's numbers
enum {
  RUBY_ENTRIES_BYTES = 12288,
  RUBY_INDEX_BYTES = CODE_LINE_BYTES - RUBY_ENTRIES_BYTES - sizeof(struct ruby_lines)
};

/// The walk's position among the frames of Ruby.
struct ruby_walk {
  __u32 object;      // index in `rubies` plus 1; 0: none was met
  __u32 in_ruby;     // the native frame that is being left belongs to the interpreter's object
  __u64 base;        // where offset 0 of the object would be mapped
  __u64 stack, end;  // of the Ruby frames
  __u64 next;        // the innermost frame that no activation inside of this place runs
  __u64 frame;       // the next frame of the activation that is being walked; 0: none is
  __u64 memory;      // mm_struct
  // Of the loop, when the native frame is being left; then the instruction of `frame` alone.
  __u64 kept_frame, kept_instruction;
  __u32 frame_in_memory, instruction_in_memory;  // it is an address
  __u32 is_interrupted;                          // the native frame has called nothing
  __u32 zero;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, INTERPRETER_OBJECTS);
  __type(key, __u32);
  __type(value, struct ruby_layout);
} rubies SEC(".maps");

static struct ruby_layout* ruby_layout_of(const struct ruby_walk* r) {
  __u32 index = r->object - 1;
  return bpf_map_lookup_elem(&rubies, &index);
}

static void ruby_loses(__u32 why) {
  lose_code(INTERPRETER_RUBY, why);
}

/// Finds the thread's frames, when the walk comes to an object with an interpreter. `base`: where
/// its first byte would be mapped.
__noinline int begin_ruby(struct ruby_walk* r, __u32 object, __u64 base) {
  if (is_arm64 || !r) return 0;
  r->object = object;
  r->base = base;
  r->stack = r->end = r->next = r->frame = 0;
  struct ruby_layout* layout = ruby_layout_of(r);
  __u64 module = 0, entries = 0, data = 0, context = 0, words = 0;
  if (!layout) return 0;
  if (!read_word(base + layout->thread_module, &module) ||
      !read_word(thread_pointer() + THREAD_TABLE, &entries) ||
      !read_word(entries + module * THREAD_TABLE_ENTRY, &data) ||
      !read_word(data + layout->thread_offset, &context) || context == 0)
    return 0;  // not a thread of the interpreter's
  if (!read_word(context + layout->context_stack, &r->stack) ||
      !read_word(context + layout->context_stack_words, &words) ||
      !read_word(context + layout->context_frame, &r->next)) {
    ruby_loses(CODE_NO_MEMORY);
    return 0;
  }
  r->end = r->stack + words * 8;
  return 0;
}

struct ruby_search {
  __u64 frame, wanted;
  __u32 frame_bytes, frame_environment;
};

/// Goes outwards over frames that an activation may have inside of the one which it works with.
static long search_ruby_frame(__u32 index, void* context) {
  struct ruby_search* search = context;
  __u64 environment = 0, flags = RUBY_IS_LAST;
  if (search->frame >= search->wanted) return 1;
  if (!read_word(search->frame + search->frame_environment, &environment) ||
      !read_word(environment, &flags) || flags & RUBY_IS_LAST)
    return 1;
  search->frame += search->frame_bytes;
  return 0;
}

/// Whether a native frame with the stack [sp, cfa) that returns to `caller` is the loop, and runs
/// Ruby frames: then next_ruby_frame() gives them. `saved`: where the caller's r15 is.
__noinline int enter_ruby_loop(struct ruby_walk* r, __u64 sp, __u64 cfa, __u64 caller,
                               __u64 saved) {
  if (!r) return 0;
  struct ruby_layout* layout = ruby_layout_of(r);
  if (!layout || r->next == 0 || saved < sp || saved >= cfa) return 0;
  _Bool is_loop = 0;
  for (__u32 i = 0; i < RUBY_LOOP_CALLS; ++i)
    if (layout->loop_returns[i] != 0 && caller - r->base == layout->loop_returns[i]) is_loop = 1;
  if (!is_loop) return 0;
  if ((r->frame_in_memory && !read_word(r->kept_frame, &r->kept_frame)) ||
      (r->instruction_in_memory && !read_word(r->kept_instruction, &r->kept_instruction))) {
    ruby_loses(CODE_NO_MEMORY);
    return 0;
  }
  __u64 frame = r->kept_frame;
  // A frame that has just ended is not counted any more.
  if (frame < r->stack || frame >= r->end || frame + layout->frame_bytes < r->next) return 0;
  r->frame = frame;
  if (!r->is_interrupted) return 1;
  struct ruby_search search = {.frame = r->next,
                               .wanted = frame,
                               .frame_bytes = layout->frame_bytes,
                               .frame_environment = layout->frame_environment};
  bpf_loop(RUBY_SEARCH_FRAMES, search_ruby_frame, &search, 0);
  if (search.frame < frame || (search.frame > frame && search.frame != r->next)) r->frame = 0;
  return r->frame != 0;
}

/// Reads at most `most` bytes of a string; its length.
static __u32 read_ruby_text(__u64 text, __u8* to, __u32 most, __u8* width) {
  __u64 flags = 0, at = text + RUBY_DATA;
  *width = 0;
  if (!read_word(text, &flags) || (flags & RUBY_TYPE_MASK) != RUBY_STRING) return 0;
  __u64 length = flags >> RUBY_LENGTH_SHIFT & RUBY_LENGTH_MASK;
  if (flags & RUBY_IS_ELSEWHERE &&
      (!read_word(text + RUBY_DATA, &length) || !read_word(text + RUBY_FAR_STRING, &at)))
    return 0;
  __u64 bytes = length > most ? most : length;
  asm volatile("" : "+r"(bytes));
  if (bytes > most) return 0;
  if (bpf_probe_read_user(to, (__u32)bytes, (void*)at)) return 0;
  *width = CODE_TEXT_IS_BYTES;
  return length > 0xffffffff ? 0xffffffff : (__u32)length;
}

/// A file's path as it was given: a string, or the first one of an array.
static __u64 ruby_path(__u64 path) {
  __u64 flags = 0, at = path + RUBY_DATA;
  if (!read_word(path, &flags)) return 0;
  if ((flags & RUBY_TYPE_MASK) != RUBY_ARRAY) return path;
  if (!(flags & RUBY_IS_ELSEWHERE) && !read_word(path + RUBY_FAR_ARRAY, &at)) return 0;
  return read_word(at, &path) ? path : 0;
}

/// Reads the table of lines; how many bytes of it there are, or 0.
static __u64 read_ruby_lines(const struct ruby_layout* layout, __u64 body,
                             struct code_description* message) {
  struct ruby_lines lines = {};
  __u64 entries = 0, index = 0;
  __u32 count = 0;
  if (!read_word(body + layout->body_entries, &entries) ||
      !read_u32(body + layout->body_entry_count, &count) ||
      !read_word(body + layout->body_entry_index, &index) ||
      !read_u32(body + layout->body_units, &lines.units))
    return 0;
  __u64 entry_bytes = (__u64)count * RUBY_ENTRY_BYTES, index_bytes = 0;
  if (index != 0) {
    index_bytes = RUBY_FIRST_BYTES;
    if (lines.units > RUBY_FIRST_UNITS)
      index_bytes += (lines.units - RUBY_FIRST_UNITS + RUBY_BLOCK_UNITS - 1) / RUBY_BLOCK_UNITS *
                     RUBY_BLOCK_BYTES;
  }
  __u64 all = sizeof lines + entry_bytes + index_bytes;
  message->line_bytes = all > 0xffffffff ? 0xffffffff : (__u32)all;
  if (entry_bytes > RUBY_ENTRIES_BYTES) entry_bytes = RUBY_ENTRIES_BYTES;
  if (index_bytes > RUBY_INDEX_BYTES) index_bytes = RUBY_INDEX_BYTES;
  lines.kept_entries = (__u32)entry_bytes / RUBY_ENTRY_BYTES;
  asm volatile("" : "+r"(entry_bytes), "+r"(index_bytes));
  if (entry_bytes > RUBY_ENTRIES_BYTES || index_bytes > RUBY_INDEX_BYTES) return 0;
  __builtin_memcpy(message->lines, &lines, sizeof lines);
  __u8* to = message->lines + sizeof lines;
  if (bpf_probe_read_user(to, (__u32)entry_bytes, (void*)entries) ||
      bpf_probe_read_user(to + entry_bytes, (__u32)index_bytes, (void*)index))
    return 0;
  return sizeof lines + entry_bytes + index_bytes;
}

/// Describes a code object to the loader. Returns its number; 0 if that is not possible now.
static __u64 describe_ruby_code(const struct ruby_layout* layout, __u64 body,
                                const struct code_key* key, struct known_code* known) {
  struct code_description* message = new_description(key, known, INTERPRETER_RUBY);
  if (!message) return 0;
  message->line_table = RUBY_INSTRUCTIONS;
  message->name_length =
      read_ruby_text(known->name, message->name, CODE_NAME_BYTES, &message->name_width);
  message->file_length =
      read_ruby_text(ruby_path(known->file), message->file, CODE_FILE_BYTES, &message->file_width);
  __u64 bytes = read_ruby_lines(layout, body, message);
  if (message->name_width == 0 || message->file_width == 0 || bytes == 0) {
    ruby_loses(CODE_NO_MEMORY);
    return 0;
  }
  if (bytes > CODE_LINE_BYTES) return 0;
  return send_description(message, bytes, key, known);
}

/// The number of the code object (rb_iseq_t) at an address; 0 if nothing can be said about it.
__noinline __u64 ruby_code_number(struct ruby_walk* r, __u64 code, __u64 body) {
  if (!r) return 0;
  struct ruby_layout* layout = ruby_layout_of(r);
  if (!layout) return 0;
  __u64 first_line = 0;
  struct known_code now = {.number = 0};
  if (!read_word(body + layout->body_name, &now.name) ||
      !read_word(body + layout->body_path, &now.file) ||
      !read_word(body + layout->body_entries, &now.lines) ||
      !read_word(body + layout->body_first_line, &first_line)) {
    ruby_loses(CODE_NO_MEMORY);
    return 0;
  }
  now.first_line = (__u32)(first_line >> 1);  // a Fixnum
  struct code_key key = code_key_of(r->memory, code);
  __u64 number = known_number(&key, &now);
  return number != 0 ? number : describe_ruby_code(layout, body, &key, &now);
}

/// How many words of code lie before the instruction that a frame is at. Its own memory has where
/// the next one begins, as of the last call; the loop's register is not behind.
static __u32 ruby_unit(const struct ruby_layout* layout, __u64 body, __u64 instruction,
                       __u64 in_register) {
  __u64 code = 0;
  __u32 units = 0;
  if (!read_word(body + layout->body_code, &code) || !read_u32(body + layout->body_units, &units))
    return CODE_NO_UNIT;
  __u64 at = (in_register - code) / 8;
  if (at > units) at = (instruction - code) / 8;
  if (at > units || at >= CODE_NO_UNIT) return CODE_NO_UNIT;
  return at == 0 ? 0 : (__u32)at - 1;
}

/// What stands in the chain for the current frame; goes on to the one that called it.
__noinline __u64 next_ruby_frame(struct ruby_walk* r) {
  if (!r) return 0;
  struct ruby_layout* layout = ruby_layout_of(r);
  if (!layout) return 0;
  __u64 frame = r->frame, in_register = r->kept_instruction;
  __u64 code = 0, instruction = 0, environment = 0, flags = RUBY_IS_LAST, type = 0, body = 0;
  __u64 number = 0;
  __u32 unit = CODE_NO_UNIT;
  r->frame = 0;
  r->kept_instruction = 0;
  r->next = frame + layout->frame_bytes;
  if (!read_word(frame + layout->frame_code, &code) ||
      !read_word(frame + layout->frame_instruction, &instruction) ||
      !read_word(frame + layout->frame_environment, &environment) ||
      !read_word(environment, &flags) || (code != 0 && !read_word(code, &type)) ||
      (code != 0 && !read_word(code + layout->code_body, &body))) {
    ruby_loses(CODE_NO_MEMORY);
  } else if ((type & RUBY_CODE_MASK) != RUBY_CODE) {
    ruby_loses(CODE_IS_OTHER);
  } else {
    number = ruby_code_number(r, code, body);
    unit = ruby_unit(layout, body, instruction, in_register);
  }
  if (!(flags & RUBY_IS_LAST) && r->next < r->end) r->frame = r->next;
  return interpreted_frame(INTERPRETER_RUBY, number, unit);
}
