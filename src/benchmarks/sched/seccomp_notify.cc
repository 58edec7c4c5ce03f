// sched seccomp-notify: a task's system call is intercepted by a seccomp filter and answered by
// another task: two switches of tasks per call (seccomp_unotify(2)).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/support/child_processes.h"
#include "benchmarks/support/io.h"

// Linux 6.6; older headers lack it.
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

namespace sonde {

namespace {

constexpr uint64_t kWakeOnSameCpu = 1;  // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
constexpr long kAnswer = 1;

/// Has this process's getppid calls answered by the owner of the descriptor; -1 if refused.
int intercept_getppid() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog filter{.len = program.size(), .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

union FdMessage {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> space;
};

/// One byte, with a descriptor unless it is -1: its errno, then, is the byte.
bool send_fd(int socket, int fd, char byte) {
  iovec data{.iov_base = &byte, .iov_len = 1};
  FdMessage control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control.space;
    control.header = {
        .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  }
  return ::sendmsg(socket, &message, 0) == 1;
}

Result<Fd> receive_fd(int socket) {
  char byte = 0;
  iovec data{.iov_base = &byte, .iov_len = 1};
  FdMessage control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control.space;
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got == 1 && message.msg_controllen > 0) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
    return Fd(fd);
  }
  return fail(ErrorCode::kUnsupported,
              "seccomp refuses user notifications: {}: needs Linux 5.0 and no other listener",
              got == 1 ? std::strerror(byte) : "the process ended");
}

class SeccompNotify final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('l', "loop", loops_, "n", "system calls to make and answer (1000000)");
    flags.boolean('s', "sync-mode", sync_,
                  "wake the task that waits on the CPU of the one that wakes it");
  }

  Result<> run(BenchmarkRun& run) override {
    FdPair sockets = TRY(make_socket_pair());
    ChildProcesses processes;
    TRY(processes.start([&] {
      sockets.in.reset();
      return call(sockets.out.get());
    }));
    sockets.out.reset();
    Fd listener = TRY(receive_fd(sockets.in.get()));
    if (sync_ && ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SET_FLAGS, kWakeOnSameCpu) != 0)
      return fail(ErrorCode::kUnsupported, "--sync-mode: {}: needs Linux 6.6",
                  std::strerror(errno));
    char go = 0;
    if (!write_fully(sockets.in.get(), &go, 1))
      return fail(ErrorCode::kFailed, "the process that calls has ended");
    uint64_t start_ns = monotonic_ns();
    for (unsigned i = 0; i < loops_; ++i) TRY(answer(listener.get()));
    TRY(processes.wait());
    TimedOperations timed{.elapsed_ns = monotonic_ns() - start_ns};
    timed.done = {fmt::format("Executed {} system calls", loops_)};
    timed.operations = loops_;
    run.report.report(timed);
    return {};
  }

 private:
  /// In the other process.
  [[nodiscard]] bool call(int socket) const {
    int listener = intercept_getppid();
    if (!send_fd(socket, listener, static_cast<char>(errno)) || listener < 0) return false;
    ::close(listener);  // calls fail, and do not wait, once the other side has gone
    char go = 0;
    if (!read_fully(socket, &go, 1)) return false;
    for (unsigned i = 0; i < loops_; ++i)
      if (::syscall(SYS_getppid) != kAnswer) return false;
    return true;
  }

  static Result<> answer(int listener) {
    seccomp_notif request{};
    while (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) {
      if (errno != EINTR)
        return fail(ErrorCode::kFailed, "seccomp notification: {}", std::strerror(errno));
    }
    seccomp_notif_resp response{};
    response.id = request.id;
    response.val = kAnswer;
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0) return {};
    return fail(ErrorCode::kFailed, "seccomp answer: {}", std::strerror(errno));
  }

  unsigned loops_ = 1'000'000;
  bool sync_ = false;
};

}  // namespace

std::unique_ptr<Benchmark> make_sched_seccomp_notify() {
  return std::make_unique<SeccompNotify>();
}

}  // namespace sonde
