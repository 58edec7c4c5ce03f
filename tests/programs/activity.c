/* Does a little of everything that events tell about, until it is killed: computes, faults pages in, sleeps, wakes, reads, writes a
   file through to the disk, connects, accepts, allocates, takes a contended mutex, starts a program. With a number it does so many
   rounds, and ends. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone))

static volatile unsigned long sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int server, port;

FUNCTION unsigned long compute(long count) {
  unsigned long hash = 5381;
  for (long i = 0; i < count; ++i) hash = hash * 33 + (unsigned long)i;
  sink += hash;
  return hash;
}

FUNCTION void touch(size_t bytes) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  memset(memory, 1, bytes);
  munmap(memory, bytes);
}

FUNCTION char *myfunc(const char *name) {
  char *copy = strdup(name);
  sink += (unsigned long)strlen(copy);
  return copy;
}

FUNCTION void save(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  if (write(file, path, strlen(path)) < 0) perror(path);
  fsync(file);
  close(file);
}

FUNCTION void talk(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = (in_port_t)port};
  char byte = 1;
  int client = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client, (struct sockaddr *)&address, sizeof address) == 0) {
    int peer = accept(server, NULL, NULL);
    if (write(client, &byte, 1) == 1 && read(peer, &byte, 1) == 1) sink++;
    close(peer);
  }
  close(client);
}

FUNCTION void start_program(void) {
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
}

static void nap(long microseconds) {
  struct timespec time = {.tv_nsec = microseconds * 1000};
  nanosleep(&time, NULL);
}

static void *contend(void *unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&mutex);
    nap(500);
    pthread_mutex_unlock(&mutex);
    nap(500);
  }
  return NULL;
}

static void listen_on_loopback(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  server = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(server, (struct sockaddr *)&address, length) || listen(server, 8) ||
      getsockname(server, (struct sockaddr *)&address, &length)) {
    perror("activity: loopback");
    exit(1);
  }
  port = address.sin_port;
}

int main(int count, char **words) {
  long rounds = count > 1 ? atol(words[1]) : -1;
  char path[64];
  pthread_t thread;
  snprintf(path, sizeof path, "activity.%d", (int)getpid());
  listen_on_loopback();
  pthread_create(&thread, NULL, contend, NULL);
  for (long round = 0; round != rounds; ++round) {
    compute(8000000);
    touch(1 << 18);
    free(myfunc("name"));
    save(path);
    talk();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    start_program();
    nap(1000);
  }
  unlink(path);
  return 0;
}
