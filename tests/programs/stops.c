// Places where a call chain is hard to find. Each case is run once, in order; a breakpoint at one of the functions named stop_…
// (or at one of their instructions) takes a sample whose chain is known from this source. Compiled with optimisation, without
// frame pointers and without debug information.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone, noipa))
#endif
// Code after a call prevents it from becoming a tail call.
#define DONE __asm__ volatile("" ::: "memory")

static volatile int sink;

NOINLINE void stop_leaf(int x) { sink = x * 3; }
NOINLINE void call_leaf(int x) {
  stop_leaf(x);
  DONE;
}

// Callee-saved registers: the prologue stores them one by one.
NOINLINE int stop_saves(int a, int b, int c) {
  int d = a * b, e = b * c, f = c * a;
  for (int i = 0; i < 3; ++i) {
    call_leaf(d);
    sink = d + e + f + a + b + c;
  }
  return d + e + f;
}
NOINLINE void call_saves(void) {
  sink = stop_saves(sink, 2, 3);
  DONE;
}

// A function that ends in a call: the return address is after its last instruction.
static jmp_buf way_out;
__attribute__((noinline, noreturn)) void stop_no_return(void) { longjmp(way_out, 1); }
__attribute__((noinline, noreturn)) void ends_in_a_call(void) {
  sink = 1;
  stop_no_return();
}
NOINLINE void call_no_return(void) {
  if (setjmp(way_out) == 0) ends_in_a_call();
  DONE;
}

// Signals: one that it sends to itself, and one raised by the first instruction of a function.
NOINLINE void stop_in_handler(void) { sink = 2; }
void on_signal(int number, siginfo_t* info, void* context) {
  (void)info;
  stop_in_handler();
  DONE;
  if (number != SIGILL) return;
  ucontext_t* at = context;
#ifdef __x86_64__
  at->uc_mcontext.gregs[REG_RIP] += 2;
#else
  at->uc_mcontext.pc += 4;
#endif
}
#ifdef __x86_64__
#define TRAP "ud2\n  ret\n"
#else
#define TRAP "udf #0\n  ret\n"
#endif
void traps(void);
__asm__(".text\n.type traps, %function\ntraps:\n.cfi_startproc\n" TRAP ".cfi_endproc\n.size traps, .-traps\n");
NOINLINE void call_traps(void) {
  traps();
  DONE;
}
static char other_stack[65536] __attribute__((aligned(4096)));
NOINLINE void call_traps_on_other_stack(void) {
  stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  sigaltstack(&stack, NULL);
  struct sigaction how = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGILL, &how, NULL);
  traps();
  DONE;
}

// Another stack, by the C library and by hand.
static ucontext_t here, there;
static char context_stack[65536];
NOINLINE void stop_in_context(void) { sink = 3; }
void coroutine(void) {
  stop_in_context();
  DONE;
}
NOINLINE void call_coroutine(void) {
  getcontext(&there);
  there.uc_stack.ss_sp = context_stack;
  there.uc_stack.ss_size = sizeof context_stack;
  there.uc_link = &here;
  makecontext(&there, coroutine, 0);
  swapcontext(&here, &there);
  DONE;
}

NOINLINE void stop_on_green_stack(void) { sink = 4; }
void green_thread(void) {
  stop_on_green_stack();
  DONE;
}
// Calls green_thread on the stack that ends at its argument. No rule says how to get from there to the caller: unwinders must
// stop here, as with the green threads of language runtimes.
void on_green_stack(char* stack_end);
#ifdef __x86_64__
__asm__(".text\n.type on_green_stack, %function\non_green_stack:\n"
        ".cfi_startproc\n.cfi_undefined rip\n"
        "  push %rbx\n  mov %rsp, %rbx\n  mov %rdi, %rsp\n  call green_thread\n  mov %rbx, %rsp\n  pop %rbx\n  ret\n"
        ".cfi_endproc\n.size on_green_stack, .-on_green_stack\n");
#else
__asm__(".text\n.type on_green_stack, %function\non_green_stack:\n"
        ".cfi_startproc\n.cfi_undefined x30\n"
        "  stp x19, x30, [sp, #-16]!\n  mov x19, sp\n  mov sp, x0\n  bl green_thread\n  mov sp, x19\n"
        "  ldp x19, x30, [sp], #16\n  ret\n"
        ".cfi_endproc\n.size on_green_stack, .-on_green_stack\n");
#endif
static char green_stack[65536] __attribute__((aligned(16)));
NOINLINE void call_green_thread(void) {
  on_green_stack(green_stack + sizeof green_stack);
  DONE;
}

// Code generated at run time that keeps a frame pointer; nothing else is known about it.
NOINLINE void stop_under_generated(void) { sink = 5; }
NOINLINE void from_generated(void) {
  stop_under_generated();
  DONE;
}
NOINLINE void call_generated(void) {
#ifdef __x86_64__
  // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#else
  // stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret
  static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  __builtin___clear_cache(page, page + sizeof code);
  ((void (*)(void (*)(void)))page)(from_generated);
  DONE;
}

// A call through a PLT entry, whose first use resolves the function; and one into the vdso.
NOINLINE void call_plt(void) {
  sink = getppid();
  DONE;
}
NOINLINE void call_vdso(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  DONE;
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "vdso") == 0) {
    void* vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    printf("%p\n", vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL);
    return 0;
  }
  struct sigaction how = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &how, NULL);
  sigaction(SIGILL, &how, NULL);
  call_leaf(7);
  call_saves();
  call_no_return();
  raise(SIGUSR1);
  call_traps();
  call_traps_on_other_stack();
  call_coroutine();
  call_green_thread();
  call_generated();
  call_plt();
  call_vdso();
  return 0;
}
