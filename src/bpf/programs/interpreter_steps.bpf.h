// What the walker does at each native frame for the interpreters whose frames it knows.
//
// Included by stack_walk.bpf.c, after struct walk.
#pragma once

/// Registers that calls preserve, as they are in this frame.
static void keep_registers(struct walk* w) {
  const __u32 preserved[LOOP_REGISTERS] = {3, 6, 12, 13, 14, 15};  // of x86-64
  w->python.kept_in_memory = 0;
  for (__u32 i = 0; i < LOOP_REGISTERS; ++i) {
    __u32 bit = 1u << preserved[i];
    w->python.kept[i] = w->known & bit ? w->value[preserved[i]] : 0;
    if (w->known & w->in_memory & bit) w->python.kept_in_memory |= 1u << i;
  }
}

static void keep_ruby_registers(struct walk* w) {
  enum { FRAME = 1u << RUBY_KEPT_FRAME, INSTRUCTION = 1u << RUBY_KEPT_INSTRUCTION };
  w->ruby.kept_frame = w->known & FRAME ? w->value[RUBY_KEPT_FRAME] : 0;
  w->ruby.kept_instruction = w->known & INSTRUCTION ? w->value[RUBY_KEPT_INSTRUCTION] : 0;
  w->ruby.is_interrupted = w->is_exact;
  w->ruby.frame_in_memory = w->known & w->in_memory & FRAME;
  w->ruby.instruction_in_memory = w->known & w->in_memory & INSTRUCTION;
}

/// Becomes ready for the frames of an interpreter that the object may contain.
static void meet_interpreter(struct walk* w, const struct walk_object* object, __u64 base) {
  if (object->python != 0 && w->python.object == 0) begin_python(&w->python, object->python, base);
  if (object->ruby != 0 && w->ruby.object == 0) begin_ruby(&w->ruby, object->ruby, base);
  w->python.in_python =
      w->python.is_one_frame && object->python != 0 && object->python == w->python.object;
  w->ruby.in_ruby = object->ruby != 0 && object->ruby == w->ruby.object;
  if (w->python.in_python) keep_registers(w);
  if (w->ruby.in_ruby) keep_ruby_registers(w);
}

/// The first of the interpreted frames that the native frame at `place`, which has just been left,
/// runs; 0 if it runs none.
static __u64 enter_interpreter(struct walk* w, __u64 place, __u64 sp, __u64 cfa) {
  if (enter_activation(&w->python, place, sp, cfa)) return next_frame(&w->python);
  if (!w->ruby.in_ruby || !(w->in_memory & 1u << RUBY_KEPT_FRAME)) return 0;
  if (!enter_ruby_loop(&w->ruby, sp, cfa, w->ip, w->value[RUBY_KEPT_FRAME])) return 0;
  return next_ruby_frame(&w->ruby);
}
