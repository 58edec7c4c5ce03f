// Adds up a value of an event, or the time between two events, into histograms by a key. Nothing is sent per event.
//
// One copy of the program is loaded for each event (each place of a probe); what it reads is constant for it, so the kernel removes
// what does not apply. The copies share their maps.
#include "follow_hooks.h"
#include "histogram.h"

char LICENSE[] SEC("license") = "GPL";

#define INLINE static __attribute__((always_inline))

/* A program that returns 0 takes the event away from everybody else. */
enum { KEEP_EVENT = 1 };

/// An event whose partner has not come yet.
struct begin {
  __u64 time_ns;
  __u64 by[HISTOGRAM_WORDS];
};
struct pair_key {
  __u64 words[HISTOGRAM_PAIR_KEYS];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, 1);
  __type(key, struct histogram_key);
  __type(value, struct histogram_cell);
} cells SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, struct pair_key);
  __type(value, struct begin);
} begins SEC(".maps");

/// The CPUs to measure on, unless all are.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u8);
} cpus SEC(".maps");

// Settings, written before the programs are attached.
const volatile __u8 role = HISTOGRAM_VALUE;
const volatile __u8 some_cpus = 0;
const volatile __u8 by_of_begin = 0;  // the key of a pair is read at its begin
const volatile struct histogram_fetch value = {}, by = {};
const volatile struct histogram_fetch pair_keys[HISTOGRAM_PAIR_KEYS] = {};
const volatile struct histogram_test tests[HISTOGRAM_TESTS] = {};
const volatile __u8 test_count = 0;
// Buckets of one size; a size of 0: powers of two.
const volatile __u64 bucket_size = 0;
const volatile __s64 first_bucket_at = 0, last_bucket_end = 0;

// What was not counted.
__u64 lost_values = 0, lost_begins = 0, unreadable = 0;
__u64 begins_replaced = 0, ends_alone = 0, ends_backward = 0;

INLINE _Bool read_memory(void* to, __u32 bytes, const void* from, _Bool of_user) {
  return (of_user ? bpf_probe_read_user(to, bytes, from) : bpf_probe_read_kernel(to, bytes, from)) == 0;
}

INLINE _Bool follow_pointer(const volatile struct histogram_fetch* how, __u8 step, __u64* value) {
  if (step >= how->steps) return 1;
  const void* from = (const void*)(*value + how->offsets[step]);
  *value = 0;
  __u32 bytes = step + 1 == how->steps ? how->bytes : sizeof *value;
  return read_memory(value, bytes, from, how->user_steps >> step & 1);
}

INLINE _Bool fetch_from_context(void* context, const volatile struct histogram_fetch* how, __u64* to) {
  __u64 read = 0;
  __u32 bytes = how->steps == 0 ? how->bytes : sizeof read;
  if (!read_memory(&read, bytes, context + how->number, 0)) return 0;
  // One by one, so that which of them there are is known when the program is loaded.
  if (!follow_pointer(how, 0, &read) || !follow_pointer(how, 1, &read) || !follow_pointer(how, 2, &read) ||
      !follow_pointer(how, 3, &read))
    return 0;
  __u8 width = how->width, shift = how->shift;
  if (width < 64) {
    read <<= (64 - shift - width) & 63;
    read = how->is_signed ? (__u64)((__s64)read >> ((64 - width) & 63)) : read >> ((64 - width) & 63);
  }
  *to = read;
  return 1;
}

/// A number, or text if `to` has room for it.
INLINE _Bool fetch(void* context, const volatile struct histogram_fetch* how, __u64* to, _Bool may_be_text) {
  __u8 origin = how->origin;
  if (origin == HISTOGRAM_NOTHING) return 1;
  if (origin >= HISTOGRAM_COMM) {
    if (!may_be_text) return 0;
    if (origin == HISTOGRAM_COMM) return bpf_get_current_comm(to, 16) == 0;
    const void* text = context + how->number;
    __u32 size = how->bytes;
    if (origin == HISTOGRAM_TEXT_AT_OFFSET) {
      __u32 where = 0;
      if (!read_memory(&where, sizeof where, text, 0)) return 0;
      text = context + (where & 0xffff) + how->plus;
      size = HISTOGRAM_TEXT;
    }
    return bpf_probe_read_kernel_str(to, size, text) >= 0;
  }
  __u64 read = 0;
  if (origin == HISTOGRAM_TID) {
    read = current_tid();
  } else if (origin == HISTOGRAM_PID) {
    read = bpf_get_current_pid_tgid() >> 32;
  } else if (origin == HISTOGRAM_CPU) {
    read = bpf_get_smp_processor_id();
  } else if (origin == HISTOGRAM_CONSTANT) {
    read = how->number;
  } else if (!fetch_from_context(context, how, &read)) {
    return 0;
  }
  *to = read + how->plus;
  return 1;
}

INLINE _Bool compares(__u64 left, __u64 right, __u8 operation, _Bool is_signed) {
  if (operation == HISTOGRAM_EQUAL) return left == right;
  if (operation == HISTOGRAM_NOT_EQUAL) return left != right;
  if (operation == HISTOGRAM_HAS_BITS) return (left & right) != 0;
  _Bool less = is_signed ? (__s64)left < (__s64)right : left < right;
  if (operation == HISTOGRAM_LESS) return less;
  if (operation == HISTOGRAM_AT_LEAST) return !less;
  return (operation == HISTOGRAM_AT_MOST) == (less || left == right);
}

INLINE _Bool holds(void* context, const volatile struct histogram_test* test) {
  __u64 read[HISTOGRAM_WORDS] = {};
  if (!fetch(context, &test->what, read, 1)) return 0;
  if (test->what.origin < HISTOGRAM_COMM)
    return compares(read[0], test->operand[0], test->operation, test->what.is_signed);
  _Bool same = 1;
#pragma unroll
  for (int i = 0; i < HISTOGRAM_WORDS; ++i) same &= read[i] == test->operand[i];
  return same == (test->operation == HISTOGRAM_EQUAL);
}

INLINE _Bool passes_filter(void* context) {
  if (test_count == 0) return 1;
  __u8 next = 0;
#pragma unroll
  for (int i = 0; i < HISTOGRAM_TESTS; ++i) {
    if (i < test_count && next == i) next = holds(context, &tests[i]) ? tests[i].if_true : tests[i].if_false;
  }
  return next == HISTOGRAM_PASSES;
}

static __s32 bit_width(__u64 number) {
  __s32 bits = number != 0;
  if (number >> 32) bits += 32, number >>= 32;
  if (number >> 16) bits += 16, number >>= 16;
  if (number >> 8) bits += 8, number >>= 8;
  if (number >> 4) bits += 4, number >>= 4;
  if (number >> 2) bits += 2, number >>= 2;
  return bits + (number >> 1 != 0);
}

INLINE __s32 bucket_of(__u64 number, _Bool is_signed) {
  __s64 with_sign = (__s64)number;
  if (bucket_size == 0) return is_signed && with_sign < 0 ? -bit_width(-number) : bit_width(number);
  _Bool is_above = (!is_signed && with_sign < 0) || with_sign >= last_bucket_end;
  if (is_above) return (__s32)((__u64)(last_bucket_end - first_bucket_at) / bucket_size);
  if (with_sign < first_bucket_at) return -1;
  return (__s32)((__u64)(with_sign - first_bucket_at) / bucket_size);
}

INLINE void count(__u64* counter) {
  __sync_fetch_and_add(counter, 1);
}

INLINE void add(struct histogram_key* key, __u64 number, _Bool is_signed) {
  key->bucket = bucket_of(number, is_signed);
  struct histogram_cell* cell = bpf_map_lookup_elem(&cells, key);
  if (!cell) {
    struct histogram_cell none = {};
    bpf_map_update_elem(&cells, key, &none, BPF_NOEXIST);
    cell = bpf_map_lookup_elem(&cells, key);
    if (!cell) return count(&lost_values);
  }
  // In the code of a program, another thread of this CPU can come in between.
  __sync_fetch_and_add(&cell->count, 1);
  __sync_fetch_and_add(&cell->sum, number);
}

INLINE _Bool fetch_pair_key(void* context, struct pair_key* key) {
#pragma unroll
  for (int i = 0; i < HISTOGRAM_PAIR_KEYS; ++i)
    if (!fetch(context, &pair_keys[i], &key->words[i], 0)) return 0;
  return 1;
}

INLINE void on_value(void* context) {
  struct histogram_key key = {};
  __u64 number = 0;
  if (!fetch(context, &value, &number, 0) || !fetch(context, &by, key.by, 1)) return count(&unreadable);
  add(&key, number, value.is_signed);
}

INLINE void on_begin(void* context) {
  struct pair_key key = {};
  struct begin begin = {};
  if (!fetch_pair_key(context, &key) || (by_of_begin && !fetch(context, &by, begin.by, 1))) return count(&unreadable);
  if (bpf_map_lookup_elem(&begins, &key)) count(&begins_replaced);
  begin.time_ns = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&begins, &key, &begin, BPF_ANY) != 0) count(&lost_begins);
}

INLINE void on_end(void* context, __u64 now_ns) {
  struct pair_key pair = {};
  struct histogram_key key = {};
  if (!fetch_pair_key(context, &pair)) return count(&unreadable);
  struct begin* begin = bpf_map_lookup_elem(&begins, &pair);
  // Where only some begins are looked at, this may be the end of another.
  if (!begin) return all_tasks && !some_cpus && test_count == 0 ? count(&ends_alone) : (void)0;
  __u64 since_ns = begin->time_ns;
  __builtin_memcpy(key.by, begin->by, sizeof key.by);
  bpf_map_delete_elem(&begins, &pair);
  if (now_ns < since_ns) return count(&ends_backward);
  if (!by_of_begin && !fetch(context, &by, key.by, 1)) return count(&unreadable);
  add(&key, now_ns - since_ns, 0);
}

INLINE _Bool is_wanted(void* context) {
  if (some_cpus) {
    __u32 cpu = bpf_get_smp_processor_id();
    if (!bpf_map_lookup_elem(&cpus, &cpu)) return 0;
  }
  return is_followed() && passes_filter(context);
}

INLINE int on_event(void* context) {
  if (enabled != FOLLOW_ON) return KEEP_EVENT;
  if (role == HISTOGRAM_END)
    on_end(context, bpf_ktime_get_ns());
  else if (is_wanted(context)) {
    if (role == HISTOGRAM_BEGIN)
      on_begin(context);
    else
      on_value(context);
  }
  return KEEP_EVENT;
}

SEC("tracepoint")
int on_tracepoint(void* context) {
  return on_event(context);
}
SEC("kprobe")
int on_probe(void* context) {
  return on_event(context);
}
