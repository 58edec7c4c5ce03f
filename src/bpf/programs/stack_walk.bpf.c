// Walks the user stack of a sampled thread by call frame information, and writes the chain in front of the sample, or counts it.
//
// Which object is mapped where, the kernel itself tells: its tree of mappings (a maple tree) is walked as it is at that moment. So
// processes need no tables, however short they live; only objects do. Rules refer to registers of the caller lazily: a saved
// register is the address where it was saved until its value is needed.
#include "core_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "interpreted_code.h"
#include "python_frames.h"
#include "ruby_frames.h"
#include "sample_context.h"
#include "stack_copy.h"
#include "stack_walk.h"
#include "sum_maps.h"

char LICENSE[] SEC("license") = "GPL";

enum { NODE_WORDS = 32, MOST_LEVELS = 8, NODE_MASK = 255, VM_EXECUTABLE = 4 };
enum { LEAF_NODE = 1, RANGE_NODE = 2, ARANGE_NODE = 3 };
enum { MAPPINGS = 8, REQUEST_BYTES = 1 << 16, SEARCH_STEPS = 25, MOST_PARENTS = 32 };
enum { USER_CODE_64 = 0x33, ARM64_IS_32_BIT = 0x10, MOST_FRAME_BYTES = 16 << 20 };

const volatile struct walk_machine machine = {};

struct maple_range_64 {
  unsigned long pivot[15];
  void* slot[16];
} KERNEL_TYPE;
struct maple_arange_64 {
  unsigned long pivot[9];
  void* slot[10];
} KERNEL_TYPE;
struct maple_tree {
  void* ma_root;
} KERNEL_TYPE;
struct mm_struct___walk {
  struct maple_tree mm_mt;
  unsigned long task_size;
  struct {
    void* vdso;
  } context;
} KERNEL_TYPE;
struct super_block {
  __u32 s_dev;
} KERNEL_TYPE;
struct inode {
  struct super_block* i_sb;
  unsigned long i_ino;
  long long i_size;
} KERNEL_TYPE;
struct file {
  struct inode* f_inode;
} KERNEL_TYPE;
struct linux_binprm___walk {
  struct file* file;
} KERNEL_TYPE;
struct task_struct___parent {
  struct task_struct* real_parent;
} KERNEL_TYPE;
struct vm_area_struct {
  unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
  struct file* vm_file;
} KERNEL_TYPE;

struct x86_registers {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
/// What the context of a sampling event really is: see sample_tests.h.
struct bpf_perf_event_data_kern {
  void* regs;
} KERNEL_TYPE;

static _Bool read_word(__u64 address, __u64* word) {
  return bpf_probe_read_user(word, sizeof *word, (void*)address) == 0;
}

#include "interpreted_code.bpf.h"
#include "python_frames.bpf.h"
#include "ruby_frames.bpf.h"

struct mapping {
  __u64 start, end;
  __u64 file_offset;  // of `start`
  struct walk_object_key key;
  __u32 kind;
  __u32 zero;
};
enum { NO_MAPPING, HAS_FILE, NO_FILE };

struct walk {
  __u64 value[WALK_REGISTERS];  // of a register, or the address where it was saved
  __u32 known;       // a bit per register
  __u32 in_memory;   // likewise: `value` is an address
  __u64 root;        // of the tree of mappings
  __u64 vdso;
  __u64 address_bits;   // that a user address can have; arm64 signs return addresses above them
  __u64 ip;
  __u64 stack_pointer;  // of the innermost frame
  __u32 is_exact;    // the place is where the thread was, rather than where a call returns to
  __u32 found;       // the mapping that find_mapping() found
  __u32 next_slot;
  __u32 zero;
  __u64 node[NODE_WORDS];
  struct mapping mappings[MAPPINGS];
  struct python_walk python;
  struct ruby_walk ruby;
  struct walk_chain chain;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct walk);
} walks SEC(".maps");

struct row_table {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(struct walk_row));
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, WALK_TABLES);
  __type(key, __u32);
  __array(values, struct row_table);
} tables SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, WALK_RULES);
  __type(key, __u32);
  __type(value, struct walk_rule);
} rules SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, WALK_OBJECTS);
  __type(key, struct walk_object_key);
  __type(value, struct walk_object);
} objects SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, REQUEST_BYTES);
} requests SEC(".maps");

/// A bpf-output event per CPU, which writes to the ring of the sampling events there.
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __type(key, __u32);
  __type(value, __u32);
} carriers SEC(".maps");

/// What there was no room for.
__u64 chains_lost = 0, objects_lost = 0;

static struct walk* this_walk(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&walks, &zero);
}

/// A register's value in the current frame; false if it is lost, or cannot be read.
static _Bool value_of(struct walk* w, __u32 reg, __u64* value) {
  reg &= 31;
  if (!(w->known & (1u << reg))) return 0;
  *value = w->value[reg];
  if (w->in_memory & (1u << reg)) return read_word(*value, value);
  return 1;
}

static void set_value(struct walk* w, __u32 reg, __u64 value) {
  reg &= 31;
  w->value[reg] = value;
  w->known |= 1u << reg;
  w->in_memory &= ~(1u << reg);
}

static void set_address(struct walk* w, __u32 reg, __u64 address) {
  reg &= 31;
  w->value[reg] = address;
  w->known |= 1u << reg;
  w->in_memory |= 1u << reg;
}

/// The index of the node's slot that covers `address`.
static __u32 slot_of(struct walk* w, __u64 address, __u32 first, __u32 count) {
  __u32 i;
  for (i = 0; i < 15; ++i) {
    if (i >= count) break;
    __u64 pivot = w->node[(first + i) & (NODE_WORDS - 1)];
    if (address <= pivot || (pivot == 0 && i > 0)) break;
  }
  return i;
}

/// The vm_area_struct at an address, or null: what lib/maple_tree.c's mtree_load() does.
__noinline __u64 find_area(struct walk* w, __u64 address) {
  if (!w) return 0;
  __u64 entry = w->root;
  if ((entry & 3) != 2 || entry < 4096) return 0;  // the root is no node: at most one mapping
  for (__u32 level = 0; level < MOST_LEVELS; ++level) {
    __u32 type = (__u32)(entry >> 3) & 15;
    if (bpf_probe_read_kernel(w->node, sizeof w->node, (void*)(entry & ~(__u64)NODE_MASK))) return 0;
    if (type == ARANGE_NODE) {
      __u32 slot = slot_of(w, address, bpf_core_field_offset(struct maple_arange_64, pivot) / 8, 9);
      entry = w->node[(bpf_core_field_offset(struct maple_arange_64, slot) / 8 + slot) & (NODE_WORDS - 1)];
    } else {
      __u32 slot = slot_of(w, address, bpf_core_field_offset(struct maple_range_64, pivot) / 8, 15);
      entry = w->node[(bpf_core_field_offset(struct maple_range_64, slot) / 8 + slot) & (NODE_WORDS - 1)];
      if (type == LEAF_NODE) return entry;
    }
  }
  return 0;
}

static void read_key(struct file* file, struct walk_object_key* key) {
  struct inode* inode = BPF_CORE_READ(file, f_inode);
  key->inode = BPF_CORE_READ(inode, i_ino);
  key->bytes = (__u64)BPF_CORE_READ(inode, i_size);
  key->device = BPF_CORE_READ(inode, i_sb, s_dev);
  key->is_generated = 0;
}

/// Finds the executable mapping of an address, remembered from an earlier frame or from the kernel; NO_MAPPING if there is none.
__noinline int find_mapping(struct walk* w, __u64 address) {
  if (!w) return NO_MAPPING;
  for (__u32 i = 0; i < MAPPINGS; ++i) {
    struct mapping* known = &w->mappings[i];
    if (address - known->start < known->end - known->start) {
      w->found = i;
      return known->kind;
    }
  }
  struct vm_area_struct* area = (struct vm_area_struct*)find_area(w, address);
  if (!area) return NO_MAPPING;
  __u32 next = w->next_slot & (MAPPINGS - 1);
  w->next_slot = next + 1;
  struct mapping* found = &w->mappings[next];
  w->found = next;
  found->start = BPF_CORE_READ(area, vm_start);
  found->end = BPF_CORE_READ(area, vm_end);
  found->kind = NO_MAPPING;
  if (!(BPF_CORE_READ(area, vm_flags) & VM_EXECUTABLE) || address < found->start || address >= found->end) {
    found->end = found->start;
    return NO_MAPPING;
  }
  struct file* file = BPF_CORE_READ(area, vm_file);
  found->key.inode = found->key.bytes = 0;
  found->key.device = found->key.is_generated = 0;
  if (file) {
    read_key(file, &found->key);
    found->file_offset = (__u64)BPF_CORE_READ(area, vm_pgoff) << machine.page_shift;
    found->kind = HAS_FILE;
  } else {
    found->file_offset = 0;
    found->kind = found->start == w->vdso ? HAS_FILE : NO_FILE;
    if (found->kind == NO_FILE) {
      found->key.is_generated = 1;
      found->key.device = w->chain.pid;
    }
  }
  return found->kind;
}

/// The number of the rule for an offset in an object: that of the last row that starts at or before it.
__noinline __u32 find_rule(__u32 table, __u32 count, __u32 offset) {
  void* rows = bpf_map_lookup_elem(&tables, &table);
  if (!rows) return 0;
  __u32 low = 0, high = count, rule = 0;
  for (__u32 i = 0; i < SEARCH_STEPS; ++i) {
    if (low >= high) break;
    __u32 middle = low + (high - low) / 2;
    struct walk_row* row = bpf_map_lookup_elem(rows, &middle);
    if (!row) return 0;
    if (row->start <= offset) {
      rule = row->rule;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return rule;
}

static void send(struct walk_request* message) {
  message->pid = (__u32)(bpf_get_current_pid_tgid() >> 32);
  if (bpf_ringbuf_output(&requests, message, sizeof *message, 0) == 0) return;
  bpf_map_delete_elem(&objects, &message->key);
  __sync_fetch_and_add(&objects_lost, 1);
}

/// Asks for an object's table, once. `message` has all but the process.
static void request(struct walk_request* message, __u32 state) {
  struct walk_object wanted = {.state = state};
  if (bpf_map_update_elem(&objects, &message->key, &wanted, BPF_NOEXIST) != 0)
    __sync_fetch_and_add(&objects_lost, 1);
  else
    send(message);
}

enum { GOES_ON = -1 };

static void return_to(struct walk* w, __u64 address) {
  w->ip = is_arm64 ? address & w->address_bits : address;
}

/// Becomes the caller's frame by a rule. Returns GOES_ON, or why there is none.
__noinline int by_rule(struct walk* w, __u32 number) {
  struct walk_rule* rule = bpf_map_lookup_elem(&rules, &number);
  if (!w || !rule) return WALK_NO_RULE;
  if (rule->flags & WALK_NOT_EXPRESSIBLE) return WALK_NO_TABLE;
  if (rule->flags & WALK_IS_OUTERMOST) return WALK_OUTERMOST;
  __u64 cfa, base = 0;
  if (!value_of(w, rule->cfa_base, &cfa)) return WALK_BAD_FRAME;
  cfa += (__u64)(__s64)rule->value;
  if (rule->cfa == WALK_CFA_DEREF) {
    if (!read_word(cfa, &cfa)) return WALK_NO_MEMORY;
    cfa += (__u64)(__s64)rule->extra;
  } else if (rule->cfa == WALK_CFA_PLT && (w->ip & 15) >= (__u64)rule->extra) {
    cfa += 8;
  }
  // Rules refer to this frame's registers, some of which are about to change.
  if (rule->base != WALK_NO_BASE && !value_of(w, rule->base, &base)) return WALK_BAD_FRAME;
  set_value(w, machine.stack_pointer, cfa);
  for (__u32 i = 0; i < WALK_MOST_SAVED; ++i) {
    if (i >= rule->saved_count) break;
    struct walk_saved* saved = &rule->saved[i];
    __u64 sum = (saved->how <= WALK_IS_CFA ? cfa : base) + (__u64)(__s64)saved->value;
    if (saved->how == WALK_LOST)
      w->known &= ~(1u << (saved->reg & 31));
    else if (saved->how == WALK_AT_CFA || saved->how == WALK_AT_BASE)
      set_address(w, saved->reg, sum);
    else
      set_value(w, saved->reg, sum);
  }
  __u64 back;
  if (!value_of(w, machine.return_address, &back)) return WALK_NO_MEMORY;
  return_to(w, back);
  set_value(w, machine.return_address, w->ip);
  w->is_exact = rule->flags & WALK_SIGNAL_FRAME;
  return GOES_ON;
}

/// For code without call frame information, which mostly keeps the frame pointer.
__noinline int by_frame_pointer(struct walk* w) {
  if (!w) return WALK_NO_RULE;
  __u64 frame, sp, next, back;
  if (!value_of(w, machine.frame_pointer, &frame) || !value_of(w, machine.stack_pointer, &sp)) return WALK_NO_RULE;
  if (frame == 0) return WALK_OUTERMOST;
  if (frame < sp || frame % 8 != 0 || frame - sp > MOST_FRAME_BYTES) return WALK_NO_RULE;
  if (!read_word(frame, &next) || !read_word(frame + 8, &back)) return WALK_NO_MEMORY;
  if (back == 0) return WALK_OUTERMOST;
  __u64 ip = w->ip;
  return_to(w, back);
  if (find_mapping(w, w->ip - 1) == NO_MAPPING) {
    w->ip = ip;
    return WALK_NO_RULE;
  }
  set_value(w, machine.frame_pointer, next);
  set_value(w, machine.stack_pointer, frame + 16);
  w->is_exact = 0;
  return GOES_ON;
}

/// arm64's kernel gives no rule for the function in its vDSO to which signal handlers return, so that nobody takes it for a called
/// one. The interrupted registers are in the signal frame, on top of the stack: struct rt_sigframe (arch/arm64/kernel/signal.c) is
/// a siginfo, then a ucontext, whose mcontext has x0 to x30, sp and pc after the fault's address.
__noinline int by_signal_frame(struct walk* w) {
  enum { REGISTERS = 128 + 176 + 8 };
  if (!w || !is_arm64) return WALK_NO_RULE;
  __u64 sp, ip;
  if (!value_of(w, machine.stack_pointer, &sp)) return WALK_BAD_FRAME;
  sp += REGISTERS;
  if (!read_word(sp + WALK_REGISTERS * 8, &ip)) return WALK_NO_MEMORY;
  if (find_mapping(w, ip) == NO_MAPPING) return WALK_NO_RULE;
  for (__u32 i = 0; i < WALK_REGISTERS; ++i) w->value[i] = sp + i * 8;
  w->known = w->in_memory = ~0u;
  w->ip = ip;
  w->is_exact = 1;
  return GOES_ON;
}

#include "interpreter_steps.bpf.h"

static int go_up(struct walk* w, __u64 place) {
  w->python.in_python = 0;
  w->ruby.in_ruby = 0;
  struct mapping* mapping = &w->mappings[w->found & (MAPPINGS - 1)];
  struct walk_object* object = bpf_map_lookup_elem(&objects, &mapping->key);
  struct walk_request message = {.key = mapping->key, .start = mapping->start, .end = mapping->end};
  if (!object) {
    request(&message, WALK_REQUESTED);
    return WALK_NO_TABLE;
  }
  if (object->state == WALK_EXPECTED && object->is_met == 0) {
    __sync_fetch_and_add(&object->is_met, 1);
    send(&message);
  }
  if (object->state == WALK_EXPECTED || object->state == WALK_REQUESTED) return WALK_NO_TABLE;
  meet_interpreter(w, object, mapping->start - mapping->file_offset);
  __u32 rule = 0;
  if (object->state == WALK_LOADED) {
    object->used_ns = bpf_ktime_get_ns();
    rule = find_rule(object->table, object->row_count, (__u32)(place - mapping->start + mapping->file_offset));
  }
  if (rule != 0) return by_rule(w, rule);
  if (is_arm64 && mapping->start == w->vdso && by_signal_frame(w) == GOES_ON) return GOES_ON;
  return by_frame_pointer(w);
}

/// One frame; returns 1 at the end of the chain.
static long step(__u32 index, void* context) {
  struct walk* w = this_walk();
  if (!w) return 1;
  __u64 slot = index;
  asm volatile("" : "+r"(slot));  // or the compiler drops the mask, which the verifier needs
  slot &= WALK_MOST_FRAMES - 1;
  if (w->python.frame != 0 || w->ruby.frame != 0) {
    w->chain.addresses[slot] = w->python.frame != 0 ? next_frame(&w->python) : next_ruby_frame(&w->ruby);
    w->chain.count = (__u16)(index + 1);
    return 0;
  }
  __u64 ip = w->ip, sp, sp_after;
  __u64 place = w->is_exact ? ip : ip - 1;
  if (!value_of(w, machine.stack_pointer, &sp)) {
    w->chain.end = WALK_BAD_FRAME;
    return 1;
  }
  int kind = find_mapping(w, place);
  // What was taken for a return address is none; the thread's own position is a fact.
  if (kind == NO_MAPPING && index > 0) {
    w->chain.end = WALK_NOT_MAPPED;
    return 1;
  }
  w->chain.addresses[slot] = place;
  w->chain.count = (__u16)(index + 1);
  if (kind != NO_MAPPING) w->chain.object = w->mappings[w->found & (MAPPINGS - 1)].key;
  int end = kind == NO_MAPPING ? WALK_NOT_MAPPED : go_up(w, place);
  if (end == GOES_ON) {
    // Nothing called the code that a handler returns to: it is at its own start.
    if (w->is_exact) w->chain.addresses[slot] = ip;
    if (w->ip == 0)
      end = WALK_OUTERMOST;
    else if (!value_of(w, machine.stack_pointer, &sp_after))
      end = WALK_NO_MEMORY;
    else if (w->ip == ip && sp_after == sp)
      end = WALK_BAD_FRAME;
    else {
      __u64 interpreted = enter_interpreter(w, place, sp, sp_after);
      if (interpreted != 0) w->chain.addresses[slot] = interpreted;
      return 0;
    }
  }
  w->chain.end = (__u16)end;
  return 1;
}

/// In memory that is free until mappings are looked up: the stack is short where the walk is deepest.
static _Bool begin_on_x86(struct walk* w, const void* saved, _Bool* is_32_bit) {
  struct x86_registers* regs = (struct x86_registers*)w->node;
  if (bpf_probe_read_kernel(regs, sizeof *regs, saved)) return 0;
  w->value[0] = regs->ax;
  w->value[1] = regs->dx;
  w->value[2] = regs->cx;
  w->value[3] = regs->bx;
  w->value[4] = regs->si;
  w->value[5] = regs->di;
  w->value[6] = regs->bp;
  w->value[7] = regs->sp;
  w->value[8] = regs->r8;
  w->value[9] = regs->r9;
  w->value[10] = regs->r10;
  w->value[11] = regs->r11;
  w->value[12] = regs->r12;
  w->value[13] = regs->r13;
  w->value[14] = regs->r14;
  w->value[15] = regs->r15;
  w->value[16] = w->ip = regs->ip;
  *is_32_bit = regs->cs != USER_CODE_64;
  return 1;
}

/// x0 to x30 and sp have the numbers of their places.
static _Bool begin_on_arm64(struct walk* w, const void* saved, _Bool* is_32_bit) {
  __u64 place_and_state[2];
  if (bpf_probe_read_kernel(w->value, sizeof w->value, saved)) return 0;
  if (bpf_probe_read_kernel(place_and_state, sizeof place_and_state, (const char*)saved + ARM64_PC)) return 0;
  w->ip = place_and_state[0];
  *is_32_bit = (place_and_state[1] & ARM64_IS_32_BIT) != 0;
  return 1;
}

/// Walks the thread's user stack. False if it has none: it belongs to the kernel.
static _Bool walk_user_stack(void* context, struct walk* w) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct mm_struct___walk* mm = (struct mm_struct___walk*)BPF_CORE_READ(task, mm);
  if (!mm) return 0;
  _Bool is_32_bit;
  const void* saved = is_in_user_mode(context) ? BPF_CORE_READ((struct bpf_perf_event_data_kern*)context, regs)
                                               : (const void*)bpf_task_pt_regs(task);
  if (!(is_arm64 ? begin_on_arm64(w, saved, &is_32_bit) : begin_on_x86(w, saved, &is_32_bit))) return 0;
  __u64 both = bpf_get_current_pid_tgid();
  w->stack_pointer = w->value[machine.stack_pointer & 31];
  w->chain.pid = (__u32)(both >> 32);
  w->chain.tid = (__u32)both;
  w->chain.end = WALK_LIMIT;
  w->chain.count = 0;
  w->chain.stack_bytes = 0;
  __builtin_memset(&w->chain.object, 0, sizeof w->chain.object);
  w->chain.object.is_generated = 1;
  w->known = ~0u;
  w->in_memory = 0;
  w->is_exact = 1;
  w->next_slot = 0;
  w->root = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
  w->vdso = (__u64)BPF_CORE_READ(mm, context.vdso);
  w->address_bits = BPF_CORE_READ(mm, task_size) - 1;
  w->python.object = 0;
  w->python.is_one_frame = 0;
  w->python.frame = 0;
  w->ruby.object = 0;
  w->ruby.frame = 0;
  w->python.memory = w->ruby.memory = (__u64)mm;
  for (__u32 i = 0; i < MAPPINGS; ++i) w->mappings[i].start = w->mappings[i].end = 0;
  if (!is_32_bit) {
    bpf_loop(WALK_MOST_FRAMES, step, 0, 0);
  } else {
    w->chain.end = WALK_OTHER_MODE;
    w->chain.addresses[0] = w->ip;
    w->chain.count = 1;
  }
  return 1;
}

static _Bool is_for_readers(const struct walk* w) {
  return w->chain.end == WALK_NO_TABLE || w->chain.end == WALK_OTHER_MODE;
}

/// Writes the chain, or the stack, for the sample that the kernel writes next.
static void write_walked(void* context, struct walk* w) {
  if (is_for_readers(w) && put_stack(context, &carriers, &w->chain, w->stack_pointer)) return;
  __u32 count = w->chain.count;
  if (count > WALK_MOST_FRAMES) return;
  if (bpf_perf_event_output(context, &carriers, CURRENT_CPU, &w->chain, WALK_CHAIN_HEADER + count * 8))
    __sync_fetch_and_add(&chains_lost, 1);
}

SEC("perf_event")
int walk_stack(void* context) {
  struct walk* w = this_walk();
  if (w && walk_user_stack(context, w)) write_walked(context, w);
  return 1;
}

/// Samples that only a reader can unwind are written one by one, and so are those that there is no room for.
SEC("perf_event")
int sum_stack(void* context) {
  struct walk* w = this_walk();
  if (!w) return leave_to_kernel();
  __u32 odd = this_window();
  struct stack_sum_key key = sum_key(sampled_ip(context));
  key.event = (__u16)bpf_get_attach_cookie(context);
  _Bool has_room = 1, has_user = walk_user_stack(context, w);
  if (has_user) {
    has_room = !is_for_readers(w);
    key.end = w->chain.end;
    if (has_room && w->chain.count > 0) {
      key.user_chain = put_chain((struct address_list*)w->chain.addresses, w->chain.count, odd);
      has_room = key.user_chain != 0;
    }
  }
  if (has_room && sums_have_kernel) has_room = put_stack_of(context, 0, odd, &key.kernel_chain);
  if (has_room && add_sum(&key, sampled_period(context), &w->chain.object, odd)) return 0;
  if (has_user) write_walked(context, w);
  return leave_to_kernel();
}

/// The process whose programs are followed, with its descendants; 0: all.
__u32 programs_below = 0;

static _Bool is_followed(void) {
  if (programs_below == 0) return 1;
  struct task_struct* task = bpf_get_current_task_btf();
  for (__u32 i = 0; i < MOST_PARENTS; ++i) {
    __u32 process = (__u32)BPF_CORE_READ(task, tgid);
    if (process <= 1) return 0;
    if (process == programs_below) return 1;
    task = (struct task_struct*)BPF_CORE_READ((struct task_struct___parent*)task, real_parent);
  }
  return 0;
}

/// A program's table is asked for when it begins, before it is sampled.
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  struct linux_binprm___walk* program = (struct linux_binprm___walk*)context->args[2];
  struct file* file = BPF_CORE_READ(program, file);
  struct walk_request message = {.start = 0};
  if (!file || !is_followed()) return 0;
  read_key(file, &message.key);
  if (!bpf_map_lookup_elem(&objects, &message.key)) request(&message, WALK_EXPECTED);
  return 0;
}
