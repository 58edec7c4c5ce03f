/* Logs its own calls, "> NAME" where a function is entered and "< NAME" where it is left, and writes the log at the end: recursion,
   indirect calls, a signal handler, and longjmp out of several calls, whose ends are not logged. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char calls[1 << 16];
static size_t used;
static jmp_buf back;

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION static void put(char sign, const char *name) {
  calls[used++] = sign;
  calls[used++] = ' ';
  while (*name) calls[used++] = *name++;
  calls[used++] = '\n';
}
#define ENTER put('>', __func__)
#define LEAVE put('<', __func__)

FUNCTION int leaf(int n) {
  ENTER;
  volatile int sum = 0;
  for (int i = 0; i < n; ++i) sum += i;
  LEAVE;
  return sum;
}
FUNCTION int fibonacci(int n) {
  ENTER;
  int result = n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  LEAVE;
  return result;
}
FUNCTION int throws(int n) {
  ENTER;
  if (n == 0) longjmp(back, 1);
  n += throws(n - 1);
  LEAVE;
  return n;
}
FUNCTION int catches(void) {
  ENTER;
  if (setjmp(back) == 0) throws(4);
  int result = leaf(3);
  LEAVE;
  return result;
}
FUNCTION void handler(int number) {
  ENTER;
  leaf(number & 3);
  LEAVE;
}
FUNCTION int work(int (*function)(int)) {
  ENTER;
  int result = function(6);
  raise(SIGUSR1);
  result += catches();
  LEAVE;
  return result;
}

int main(void) {
  signal(SIGUSR1, handler);
  int result = work(leaf) + work(fibonacci);
  return write(1, calls, used) == (ssize_t)used && result != 0 ? 0 : 1;
}
