// Stacks of many kinds, sampled while each is there: a recursion through a library that calls back, leaf functions, functions of
// the C library that call back (qsort), system calls, calls through the PLT, a signal handler over interrupted code, generated
// code that keeps a frame pointer. Every stack ends in main. Compiled with optimisation and without frame pointers, with and without
// LIBRARY for the two parts. `walked ROUNDS`.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define DONE __asm__ volatile("" ::: "memory")

typedef long (*Visit)(long value);
long through_library(int depth, Visit visit);
long leaf_in_library(long rounds);

#ifdef LIBRARY

NOINLINE long leaf_in_library(long rounds) {
  volatile long sum = 0;
  for (long i = 0; i < rounds; ++i) sum += i;
  return sum;
}
// Frames of two sizes.
NOINLINE static long descend(int depth, Visit visit) {
  volatile char room[48];
  room[0] = (char)depth;
  if (depth == 0) return visit(room[0]) + leaf_in_library(200) + room[0];
  if (depth % 3 == 0) {
    volatile char more[400];
    more[depth] = 1;
    return descend(depth - 1, visit) + more[depth];
  }
  return descend(depth - 1, visit) + room[0];
}
long through_library(int depth, Visit visit) { return descend(depth, visit) + 1; }

#else

static volatile long sink;

NOINLINE static long visit_back(long value) {
  long sum = leaf_in_library(100);
  DONE;
  return sum + value;
}
NOINLINE static int compare(const void* one, const void* other) {
  int a = *(const int*)one, b = *(const int*)other;
  return (a > b) - (a < b);
}
NOINLINE static void sort(void) {
  int numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = i * 37 % 64;
  qsort(numbers, 64, sizeof numbers[0], compare);
  sink += numbers[5];
}
NOINLINE static void call_kernel(void) {
  for (int i = 0; i < 8; ++i) sink += getppid();
  DONE;
}
NOINLINE static void on_signal(int number) {
  sink += leaf_in_library(150) + number;
  DONE;
}
NOINLINE static void interrupted(void) {
  raise(SIGUSR1);
  DONE;
}
NOINLINE static void under_generated(void) {
  sink += leaf_in_library(150);
  DONE;
}

typedef void (*Generated)(void (*function)(void));
static Generated generate(void) {
#ifdef __x86_64__
  // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#else
  // paciasp; stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; autiasp; ret
  static const uint32_t code[] = {0xd503233f, 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd50323bf, 0xd65f03c0};
#endif
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  __builtin___clear_cache(page, page + sizeof code);
  return (Generated)page;
}

int main(int count, char** words) {
  if (count < 2) return 2;
  struct sigaction how = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &how, NULL);
  Generated generated = generate();
  for (long left = atol(words[1]); left > 0; --left) {
    sink += through_library((int)(left % 20), visit_back);
    sort();
    call_kernel();
    interrupted();
    generated(under_generated);
  }
  return 0;
}

#endif
