// Every way in which a program's control can go, one per argument, for tests of stepping: its output
// says that it ran as it does without a tracer. Ends with status 3.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
static int recursion(void) {
  return fibonacci(8);
}

static int twice(int x) {
  return 2 * x;
}
static int plus_one(int x) {
  return x + 1;
}
static int (*const operations[])(int) = {twice, plus_one};
static int indirect(void) {
  int sum = 0;
  for (int i = 0; i < 30; i++) sum += operations[i % 2](i);
  return sum;
}

static volatile sig_atomic_t caught;
static sigjmp_buf after_fault;
static void note(int number) {
  (void)number;
  ++caught;
}
static void escape(int number) {
  siglongjmp(after_fault, number);
}
static int signals(void) {
  signal(SIGUSR1, note);
  raise(SIGUSR1);
  kill(getpid(), SIGUSR1);
  signal(SIGCHLD, SIG_IGN);
  raise(SIGCHLD);
  signal(SIGSEGV, escape);
  if (sigsetjmp(after_fault, 1) == 0) *(volatile int*)8 = 1;
  signal(SIGALRM, note);
  ualarm(2000, 0);
  while (caught < 3) {
  }
  return caught;
}

static jmp_buf back;
static void jump(int depth) {
  if (depth == 0) longjmp(back, 1);
  jump(depth - 1);
}
static int longjumps(void) {
  volatile int times = 0;
  if (setjmp(back) == 0 || ++times < 4) jump(5);
  return times;
}

static void* work(void* argument) {
  long sum = 0;
  for (volatile long i = 0; i < 200; i++) sum += i % (3 + (long)argument);
  return (void*)sum;
}
static int threads(void) {
  pthread_t all[3];
  long sum = 0;
  for (long i = 0; i < 3; i++) pthread_create(&all[i], NULL, work, (void*)i);
  for (int i = 0; i < 3; i++) {
    void* result;
    pthread_join(all[i], &result);
    sum += (long)result;
  }
  return (int)sum;
}

static int children(void) {
  int status;
  pid_t child = fork();
  if (child == 0) _exit(fibonacci(5));
  waitpid(child, &status, 0);
  int sum = WEXITSTATUS(status);
  child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", NULL);
    _exit(9);
  }
  waitpid(child, &status, 0);
  return sum + WEXITSTATUS(status);
}

// Repeated instructions, and the flag that makes a processor stop after each instruction.
static int strings(void) {
  static char from[20000], to[20000];
  memset(from, 1, sizeof from);
  char *source = from, *target = to;
  long count = sizeof from;
  __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
  unsigned long flags;
  __asm__ volatile("pushfq; popq %0" : "=r"(flags));
  return to[sizeof to - 1] + (int)(flags >> 8 & 1) * 100;
}

static int generated(void) {
  unsigned char* code =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, "\xb8\x05\0\0\0\xc3", 6);  // mov $5,%eax; ret
  return ((int (*)(void))code)();
}

static int stopped(void) {
  raise(SIGSTOP);
  return 1;
}

static int waiting(void) {
  return pause();
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    int (*run)(void);
  } parts[] = {{"recursion", recursion}, {"indirect", indirect},   {"signals", signals},
               {"longjumps", longjumps}, {"threads", threads},     {"children", children},
               {"strings", strings},     {"generated", generated}, {"stopped", stopped},
               {"waiting", waiting}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (count > 1 && strcmp(words[1], parts[i].name) == 0) printf("%s %d\n", words[1], parts[i].run());
  return 3;
}
