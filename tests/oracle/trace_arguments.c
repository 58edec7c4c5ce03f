// One call of each common kind, with arguments whose text is worth comparing. Run in an empty directory; calls that fail, fail
// the same way every time. trace_arguments_oracle.py traces it with strace and sonde at once.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#define CALL(name, ...) syscall(SYS_##name, ##__VA_ARGS__)

static char buffer[512];

static void files(void) {
  struct stat st;
  struct statfs fs;
  struct statx extended;
  int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  read(fd, buffer, 100);
  pread(fd, buffer, 20, 5);
  lseek(fd, 10, SEEK_SET);
  lseek(fd, 0, SEEK_END);
  CALL(fstat, fd, &st);
  CALL(stat, "/etc", &st);
  CALL(lstat, "/proc/self", &st);
  CALL(newfstatat, AT_FDCWD, "/dev/null", &st, 0);
  CALL(newfstatat, AT_FDCWD, "/nonexistent", &st, AT_SYMLINK_NOFOLLOW);
  CALL(statx, AT_FDCWD, "/etc/passwd", AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &extended);
  statfs("/proc", &fs);
  fstatfs(fd, &fs);
  dup(fd);
  dup2(fd, 20);
  dup3(fd, 21, O_CLOEXEC);
  fcntl(fd, F_GETFD);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  fcntl(fd, F_DUPFD_CLOEXEC, 30);
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 10};
  fcntl(fd, F_SETLK, &lock);
  flock(fd, LOCK_SH | LOCK_NB);
  close(fd);
  close(99);
}

static void writing(void) {
  CALL(open, "new", O_CREAT | O_RDWR | O_TRUNC, 0644);
  int fd = open("new", O_CREAT | O_RDWR | O_TRUNC | O_APPEND, 0600);
  write(fd, "hello\n\t\"quoted\" \1\200 more than thirty two characters", 54);
  struct iovec given[3] = {{"abc", 3}, {"defg\n", 5}, {buffer, 0}};
  struct iovec taken[2] = {{buffer, 4}, {buffer + 10, 40}};
  writev(fd, given, 3);
  pwritev(fd, given, 2, 100);
  lseek(fd, 0, SEEK_SET);
  readv(fd, taken, 2);
  preadv(fd, taken, 2, 3);
  pwrite(fd, "x", 1, 7);
  ftruncate(fd, 1000);
  fsync(fd);
  fdatasync(fd);
  fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4096);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  fchmod(fd, 0640);
  fchown(fd, -1, -1);
  fsetxattr(fd, "user.x", "val", 3, 0);
  fgetxattr(fd, "user.x", buffer, 100);
  CALL(sendfile, 1, fd, 0, 0);
  mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
}

static void names(void) {
  CALL(access, "/etc/passwd", R_OK);
  CALL(access, "/etc/passwd", F_OK);
  CALL(faccessat, AT_FDCWD, "/nonexistent", W_OK | X_OK);
  CALL(mkdir, "d", 0755);
  CALL(rename, "d", "e");
  CALL(rmdir, "e");
  CALL(symlink, "target", "link");
  CALL(readlink, "link", buffer, 100);
  CALL(readlinkat, AT_FDCWD, "link", buffer, 100);
  CALL(unlink, "link");
  unlinkat(AT_FDCWD, "link", 0);
  CALL(chmod, "new", 0600);
  CALL(chown, "new", -1, -1);
  CALL(link, "/x", "/y");
  renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE);
  mknod("pipe", S_IFIFO | 0600, 0);
  struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  utimensat(AT_FDCWD, "new", times, 0);
  truncate("new", 5);
  umask(022);
  getcwd(buffer, 512);
  int fd = open(".", O_RDONLY | O_DIRECTORY);
  CALL(getdents64, fd, buffer, 512);
  CALL(getdents64, fd, buffer, 512);
  fchdir(fd);
  chdir("/");
}

static void memory(void) {
  char* at = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(at, 4096, PROT_NONE);
  mprotect(at, 4096, PROT_READ | PROT_WRITE);
  madvise(at, 8192, MADV_DONTNEED);
  at = mremap(at, 8192, 16384, MREMAP_MAYMOVE);
  msync(at, 4096, MS_SYNC);
  mlock(at, 4096);
  munmap(at, 16384);
  CALL(brk, 0);
  CALL(memfd_create, "memory", 1);
}

static void sockets(void) {
  int one = 1, pair[2];
  socklen_t length = 4;
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
  int server = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, 4);
  setsockopt(server, IPPROTO_TCP, 1, &one, 4);
  getsockopt(server, SOL_SOCKET, SO_ERROR, &one, &length);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, peer;
  bind(server, (struct sockaddr*)&address, sizeof address);
  listen(server, 5);
  length = sizeof address;
  getsockname(server, (struct sockaddr*)&address, &length);
  int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  connect(client, (struct sockaddr*)&address, sizeof address);
  length = sizeof peer;
  int accepted = accept4(server, (struct sockaddr*)&peer, &length, SOCK_CLOEXEC);
  length = sizeof peer;
  getpeername(client, (struct sockaddr*)&peer, &length);
  sendto(client, "ping", 4, MSG_NOSIGNAL, 0, 0);
  recvfrom(accepted, buffer, 100, MSG_DONTWAIT, 0, 0);
  struct iovec given[2] = {{"abc", 3}, {"defg\n", 5}}, taken[2] = {{buffer, 4}, {buffer + 10, 40}};
  struct msghdr message = {.msg_iov = given, .msg_iovlen = 2};
  sendmsg(client, &message, 0);
  message.msg_iov = taken;
  recvmsg(accepted, &message, 0);
  shutdown(client, SHUT_WR);
  int local = socket(AF_UNIX, SOCK_DGRAM, 0);
  struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
  connect(local, (struct sockaddr*)&path, sizeof path);
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int other = socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
  connect(other, (struct sockaddr*)&six, sizeof six);
  socket(AF_NETLINK, SOCK_RAW, 0);
  ioctl(pair[0], FIONBIO, &one);
  ioctl(pair[0], FIONREAD, &one);
  ioctl(pair[0], TIOCGWINSZ, buffer);
}

static void waiting(void) {
  int pair[2];
  pipe2(pair, O_NONBLOCK);
  int queue = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 7}}, events[4];
  epoll_ctl(queue, EPOLL_CTL_ADD, pair[0], &event);
  write(pair[1], "z", 1);
  epoll_wait(queue, events, 4, 100);
  epoll_ctl(queue, EPOLL_CTL_DEL, pair[0], 0);
  eventfd(0, EFD_NONBLOCK);
  struct itimerspec timer = {{0, 0}, {1, 500}};
  timerfd_settime(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), 0, &timer, 0);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGUSR1);
  signalfd(-1, &signals, SFD_CLOEXEC);
  int watch = inotify_init1(IN_NONBLOCK);
  inotify_add_watch(watch, "/tmp", IN_CREATE | IN_DELETE);
  struct pollfd polled[2] = {{pair[0], POLLIN, 0}, {pair[1], POLLOUT | POLLIN, 0}};
  CALL(poll, polled, 2, 100);
  struct timespec moment = {0, 1000};
  ppoll(polled, 1, &moment, &signals);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pair[0], &set);
  FD_SET(3, &set);
  struct timeval short_time = {0, 1000};
  CALL(select, pair[0] + 1, &set, 0, 0, &short_time);
  int word = 0;
  CALL(futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
  CALL(futex, &word, FUTEX_WAIT_PRIVATE, 1, &moment, 0, 0);
  CALL(futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &moment, 0, -1);
  CALL(nanosleep, &moment, 0);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, 0);
  CALL(clock_gettime, CLOCK_REALTIME, &moment);
  CALL(gettimeofday, &short_time, 0);
  struct itimerval alarm_clock = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &alarm_clock, 0);
}

static void processes(void) {
  sigset_t signals;
  sigfillset(&signals);
  struct sigaction action = {.sa_flags = SA_RESTART};
  action.sa_handler = SIG_IGN;
  sigaction(SIGUSR1, &action, 0);
  action.sa_handler = (void (*)(int))processes;
  sigaction(SIGUSR2, &action, 0);
  sigprocmask(SIG_SETMASK, &signals, 0);
  sigprocmask(SIG_UNBLOCK, &signals, 0);
  kill(getpid(), 0);
  CALL(tgkill, getpid(), gettid(), SIGUSR1);
  stack_t stack;
  sigaltstack(0, &stack);
  getppid();
  getuid();
  getpgrp();
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  setrlimit(RLIMIT_CORE, &limit);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  sched_yield();
  prctl(PR_SET_NAME, "arguments");
  prctl(PR_GET_NAME, buffer);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  struct utsname machine;
  uname(&machine);
  CALL(getrandom, buffer, 8, GRND_NONBLOCK);
  pid_t child = fork();
  if (child == 0) _exit(3);
  siginfo_t info;
  waitid(P_PID, child, &info, WEXITED | WNOWAIT);
  int status;
  wait4(child, &status, 0, &usage);
  wait4(-1, &status, WNOHANG, 0);
  child = vfork();
  if (child == 0) {
    char* words[] = {"true", "two words", 0};
    char* environment[] = {"A=b", 0};
    execve("/bin/true", words, environment);
  }
  waitid(P_PID, child, &info, WEXITED);
}

int main(void) {
  files();
  writing();
  names();
  memory();
  sockets();
  waiting();
  processes();
  return 0;
}
