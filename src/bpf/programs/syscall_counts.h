// What syscall_counts.bpf.c and its loader agree on.
#pragma once

#define SYSCALL_NUMBERS 1024
#define SYSCALL_DIRECTIONS 2
#define SYSCALL_SLOTS (SYSCALL_NUMBERS * SYSCALL_DIRECTIONS)
#define SYSCALL_SLOT(number, direction) ((number) * SYSCALL_DIRECTIONS + (direction))

enum syscall_direction { SYSCALL_ENTER = 0, SYSCALL_EXIT = 1 };
