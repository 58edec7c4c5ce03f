// What sample_filter.bpf.c and its loader agree on: how a sample is tested.
#pragma once

#define SAMPLE_FILTER_TESTS 16
#define SAMPLE_FILTER_DROPS 254
#define SAMPLE_FILTER_KEEPS 255

enum sample_value {
  // Known without the sample's data.
  SAMPLE_PID = 0,
  SAMPLE_TID = 1,
  SAMPLE_CPU = 2,
  SAMPLE_UID = 3,
  SAMPLE_GID = 4,
  SAMPLE_CGROUP = 5,
  SAMPLE_PERIOD = 6,
  // From the sample's data, which the kernel fills in before the program since Linux 6.2.
  SAMPLE_IP = 7,
  SAMPLE_ID = 8,
  SAMPLE_TIME = 9,
  SAMPLE_ADDR = 10,
  SAMPLE_TXN = 11,
  SAMPLE_WEIGHT = 12,
  SAMPLE_PHYS_ADDR = 13,
  SAMPLE_CODE_PAGE = 14,
  SAMPLE_DATA_PAGE = 15,
  SAMPLE_DATA_SOURCE = 16,
  SAMPLE_SNOOP = 17,  // of the data source: mem_snoop, and mem_snoopx above it
};

enum sample_operation {
  SAMPLE_EQUAL = 0,
  SAMPLE_NOT_EQUAL = 1,
  SAMPLE_LESS = 2,
  SAMPLE_AT_MOST = 3,
  SAMPLE_GREATER = 4,
  SAMPLE_AT_LEAST = 5,
  SAMPLE_HAS_BITS = 6,
};

/// One comparison; `if_true` and `if_false` are the number of a later one, or one of the results.
struct sample_test {
  unsigned char value;         // enum sample_value
  unsigned char operation;     // enum sample_operation
  unsigned char shift, width;  // the bits wanted of the value
  unsigned char if_true, if_false;
  unsigned char unused[2];
  unsigned long long operand;
};

// The program that users share: how many recordings and events it serves at a time.
#define SHARED_FILTERS 512
#define SHARED_FILTER_EVENTS 16384

/// What one recording filters by.
struct shared_filter_entry {
  struct sample_test tests[SAMPLE_FILTER_TESTS];
  unsigned int owner;  // the recorder's process id: entries of dead ones may be taken
  unsigned int unused;
  unsigned long long dropped;
};
