// What histogram.bpf.c and its loader agree on: how a value is read from the context of an event,
// and how an event is tested.
#pragma once

/* Values by which the two events of a pair find each other; as many as in
 * analysis/latencies/event_pairing.h. */
#define HISTOGRAM_PAIR_KEYS 4
/* Pointers that lead to a value. */
#define HISTOGRAM_STEPS 4
/* 8-byte words of a value that may be text, and bytes of that text, with its NUL. */
#define HISTOGRAM_WORDS 4
#define HISTOGRAM_TEXT 32
/* Comparisons of a filter, and its two results. */
#define HISTOGRAM_TESTS 16
#define HISTOGRAM_FAILS 254
#define HISTOGRAM_PASSES 255

/// What an event is for.
enum histogram_role { HISTOGRAM_VALUE = 0, HISTOGRAM_BEGIN = 1, HISTOGRAM_END = 2 };

enum histogram_origin {
  HISTOGRAM_NOTHING = 0,
  HISTOGRAM_CONTEXT = 1,   // `number`: bytes from the start of the context
  HISTOGRAM_CONSTANT = 2,  // `number` itself
  HISTOGRAM_TID = 3,
  HISTOGRAM_PID = 4,
  HISTOGRAM_CPU = 5,
  // Text.
  HISTOGRAM_COMM = 6,
  HISTOGRAM_TEXT_IN_CONTEXT = 7,  // `number` bytes from its start, `bytes` long
  HISTOGRAM_TEXT_AT_OFFSET =
      8,  // there is a u32, whose lower half, plus `plus`, is where the text begins
};

/// How a value is read.
struct histogram_fetch {
  unsigned char origin;        // enum histogram_origin
  unsigned char bytes;         // of what is read last: 1, 2, 4, 8
  unsigned char steps;         // pointers to follow
  unsigned char user_steps;    // a bit for each: whether it leads to the program's memory
  unsigned char shift, width;  // the bits wanted of it
  unsigned char is_signed;
  unsigned char unused;
  long long number;
  long long plus;                      // added to the value
  long long offsets[HISTOGRAM_STEPS];  // added to each pointer
};

enum histogram_operation {
  HISTOGRAM_EQUAL = 0,
  HISTOGRAM_NOT_EQUAL = 1,
  HISTOGRAM_LESS = 2,
  HISTOGRAM_AT_MOST = 3,
  HISTOGRAM_GREATER = 4,
  HISTOGRAM_AT_LEAST = 5,
  HISTOGRAM_HAS_BITS = 6,  // any of them
};

/// One comparison of a filter. `if_true` and `if_false` are the number of a later test, or one of
/// the results.
struct histogram_test {
  struct histogram_fetch what;
  unsigned char operation;  // enum histogram_operation
  unsigned char if_true, if_false;
  unsigned char unused[5];
  unsigned long long operand[HISTOGRAM_WORDS];  // a number, in the first, or text
};

/// A bucket of the histogram of one key.
struct histogram_key {
  unsigned long long by[HISTOGRAM_WORDS];
  int bucket;  // histogram/buckets.h says how they are numbered
  unsigned int unused;
};
struct histogram_cell {
  unsigned long long count;
  unsigned long long sum;  // modulo 2^64
};
