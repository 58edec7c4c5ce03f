// Waits for locks, and knows how many waits there are: in each round a mutex is held until WAITERS threads sleep on it, then the
// same with a priority-inheriting mutex. Before that, one thread waits ROUNDS times for a condition, and TIMEOUTS times for a
// semaphore that nobody posts. Between rounds threads wait in pipes, which use no futex. Prints what it did.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAITERS = 3, TIMEOUTS = 4 };

pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER, heir_lock;
static pthread_mutex_t condition_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turns = 0;
static sem_t never;
static int go[WAITERS][2], done[2], told[2];
static volatile pid_t tids[WAITERS + 1];

static void require(int yes) {
  if (!yes) abort();
}

static void tell(int fd, char what) {
  require(write(fd, &what, 1) == 1);
}

static char hear(int fd) {
  char what = 0;
  return read(fd, &what, 1) == 1 ? what : 0;
}

static __attribute__((noinline)) void take_plain(void) {
  pthread_mutex_lock(&plain_lock);
  pthread_mutex_unlock(&plain_lock);
  __asm__ volatile("");
}

static __attribute__((noinline)) void take_heir(void) {
  pthread_mutex_lock(&heir_lock);
  pthread_mutex_unlock(&heir_lock);
  __asm__ volatile("");
}

static __attribute__((noinline)) void await_turn(int turn) {
  pthread_mutex_lock(&condition_lock);
  while (turns < turn) pthread_cond_wait(&condition, &condition_lock);
  pthread_mutex_unlock(&condition_lock);
  __asm__ volatile("");
}

static __attribute__((noinline)) void await_nothing(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 2000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
  require(sem_timedwait(&never, &until) != 0);
  __asm__ volatile("");
}

static void* wait_for_locks(void* number) {
  long i = (long)number;
  tids[i] = (pid_t)syscall(SYS_gettid);
  for (char what = hear(go[i][0]); what; what = hear(go[i][0])) {
    what == 'p' ? take_plain() : take_heir();
    tell(done[1], 'd');
  }
  return 0;
}

static void* wait_for_turns(void* rounds) {
  tids[WAITERS] = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < TIMEOUTS; ++i) await_nothing();
  for (int turn = 1; turn <= *(int*)rounds; ++turn) {
    tell(told[1], 't');
    await_turn(turn);
  }
  return 0;
}

/// Waits until a thread is in futex(2), and asleep.
static void await_sleep(pid_t tid) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
  for (;;) {
    int fd = open(path, O_RDONLY);
    memset(text, 0, sizeof text);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && text[0] != 'r' && atoi(text) == SYS_futex) {
      close(fd);
      return;
    }
    if (fd >= 0) close(fd);
    usleep(200);
  }
}

static void rounds_of(pthread_mutex_t* lock, char what, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    pthread_mutex_lock(lock);
    for (int i = 0; i < WAITERS; ++i) tell(go[i][1], what);
    for (int i = 0; i < WAITERS; ++i) await_sleep(tids[i]);
    pthread_mutex_unlock(lock);
    for (int i = 0; i < WAITERS; ++i) hear(done[0]);
  }
}

int main(int count, char** words) {
  int rounds = count > 1 ? atoi(words[1]) : 10;
  pthread_t threads[WAITERS], turner;
  pthread_mutexattr_t heir;
  pthread_mutexattr_init(&heir);
  require(pthread_mutexattr_setprotocol(&heir, PTHREAD_PRIO_INHERIT) == 0);
  pthread_mutex_init(&heir_lock, &heir);
  require(sem_init(&never, 0, 0) == 0 && pipe(done) == 0 && pipe(told) == 0);

  require(pthread_create(&turner, 0, wait_for_turns, &rounds) == 0);
  for (int turn = 1; turn <= rounds; ++turn) {
    hear(told[0]);
    await_sleep(tids[WAITERS]);
    pthread_mutex_lock(&condition_lock);
    turns = turn;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&condition_lock);
  }
  pthread_join(turner, 0);

  for (long i = 0; i < WAITERS; ++i) {
    require(pipe(go[i]) == 0);
    require(pthread_create(&threads[i], 0, wait_for_locks, (void*)i) == 0);
    while (tids[i] == 0) usleep(100);
  }
  rounds_of(&plain_lock, 'p', rounds);
  rounds_of(&heir_lock, 'h', rounds);
  for (int i = 0; i < WAITERS; ++i) close(go[i][1]);
  for (int i = 0; i < WAITERS; ++i) pthread_join(threads[i], 0);
  printf("plain=%d heir=%d turns=%d timeouts=%d pid=%d\n", rounds * WAITERS, rounds * WAITERS, rounds, TIMEOUTS, getpid());
  return 0;
}
