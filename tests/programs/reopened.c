// Descriptors that become other files: closed and opened again with the same number, by dup2, in
// another thread, by a process that shares them; and files of all kinds. Before each read() of 77
// bytes it prints what /proc says that the descriptor is. Needs files "first", "second", "third" in
// the working directory. All threads and processes take turns.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void look(int fd) {
  char link[64], name[4096], buffer[77];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, name, sizeof name - 1);
  printf("%d<%.*s>\n", fd, size < 0 ? 0 : (int)size, name);
  (void)!read(fd, buffer, sizeof buffer);
}
static void reopen(int fd, const char* path) {
  close(fd);
  if (open(path, O_RDONLY) != fd) abort();
}
static void* in_thread(void* fd) {
  reopen(*(int*)fd, "second");
  look(*(int*)fd);
  return 0;
}
static int in_child(void* fd) {
  reopen(*(int*)fd, "third");
  _exit(0);
}
int main(void) {
  static char stack[1 << 16];
  setvbuf(stdout, 0, _IOLBF, 0);
  int fd = open("first", O_RDONLY), other = open("third", O_RDONLY);
  for (int i = 0; i < 3; ++i) {
    look(fd);
    reopen(fd, i % 2 ? "first" : "second");
    look(fd);
    reopen(fd, "first");
  }
  look(fd);
  dup2(other, fd);
  look(fd);
  reopen(fd, "first");
  pthread_t thread;
  pthread_create(&thread, 0, in_thread, &fd);
  pthread_join(thread, 0);
  look(fd);
  int child = clone(in_child, stack + sizeof stack, CLONE_FILES | SIGCHLD, &fd);
  waitpid(child, 0, 0);
  look(fd);
  if (fork() == 0) {
    reopen(fd, "first");
    look(fd);
    exit(0);
  }
  wait(0);
  look(fd);
  close(fd);
  if (open("removed", O_CREAT | O_RDWR, 0600) != fd) abort();
  look(fd);
  unlink("removed");
  look(fd);
  const char* paths[] = {"/", ".", "/dev/null", "/proc/self/status"};
  for (int i = 0; i < 4; ++i) {
    reopen(fd, paths[i]);
    look(fd);
  }
  int pipes[2], sockets[2];
  if (pipe2(pipes, O_NONBLOCK) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) != 0)
    return 1;
  look(pipes[0]);
  look(sockets[1]);
  look(eventfd(0, EFD_NONBLOCK));
  look(memfd_create("memory", 0));
  return 0;
}
