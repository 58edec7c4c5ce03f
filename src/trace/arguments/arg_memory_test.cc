// Strings and structures, as strace writes them.
#include <gtest/gtest.h>

#include "trace/arguments/arg_test_event.h"

namespace sonde {
namespace {

using namespace std::literals;

constexpr uint64_t kAt = 0x7000;

TEST(ArgStrings, EscapesAreCs) {
  std::string_view text = "hello\n\t\"quoted\" \1\200 more than thirty";
  EXPECT_EQ(
      TestCall("write", {5, kAt, text.size()}, 1).in(1, text.substr(0, 32), 0, 54).strace(),
      "5, \"hello\\n\\t\\\"quoted\\\" \\1\\200 more than thi\"..., " + std::to_string(text.size()));
  EXPECT_EQ(TestCall("write", {5, kAt, 2}).in(1, "\0018"sv).strace(), "5, \"\\18\", 2")
      << "8 is no octal digit";
  EXPECT_EQ(TestCall("write", {5, kAt, 2}).in(1, "\0017"sv).strace(), "5, \"\\0017\", 2");
  EXPECT_EQ(TestCall("write", {5, kAt, 2}).in(1, "\\\x7f"sv).strace(), "5, \"\\\\\\177\", 2");
}

TEST(ArgStrings, AStringWithoutItsEndIsCut) {
  EXPECT_EQ(TestCall("chdir", {kAt}).in(0, "/long", 0, 4096).strace(), "\"/long\"...");
  EXPECT_EQ(TestCall("chdir", {kAt}).in(0, "/long\0rest"sv, 0, 4096).strace(), "\"/long\"");
  EXPECT_EQ(TestCall("memfd_create", {kAt, 1}).in(0, std::string(40, 'x') + '\0').strace(),
            "\"" + std::string(32, 'x') + "\"..., MFD_CLOEXEC");
}

TEST(ArgStrings, ArgumentsOfAProgramAreShownAndItsEnvironmentCounted) {
  TestCall call("execve", {0x1000, 0x2000, 0x3000});
  call.in(0, "/bin/true\0"sv)
      .in(1, packed(uint64_t{0x10}, uint64_t{0x20}, uint64_t{0}))
      .in(1, "true\0"sv, 1)
      .in(1, "one two\0"sv, 2);
  call.in(2, packed(uint64_t{0x30}, uint64_t{0}));
  EXPECT_EQ(call.strace(), "\"/bin/true\", [\"true\", \"one two\"], 0x3000 /* 1 var */");
  EXPECT_EQ(call.perf(),
            "filename: \"/bin/true\", argv: [\"true\", \"one two\"], envp: 0x3000 /* 1 var */");
}

TEST(ArgStrings, ArgumentsBeyondTheBoundAreTold) {
  TestCall call("execve", {0, 0x2000, 0});
  call.in(1, packed(uint64_t{0x10}), 0, 80).in(1, "a\0"sv, 1);
  EXPECT_EQ(call.strace(), "NULL, [\"a\", ...], NULL");
}

TEST(ArgStrings, BuffersHoldNoMoreThanWasTransferred) {
  TestCall call("readv", {5, kAt, 2}, 6);
  call.out(1, packed(uint64_t{0x10}, uint64_t{4}, uint64_t{0x20}, uint64_t{40}))
      .out(1, "hell", 1)
      .out(1, "o\njunk", 2);
  EXPECT_EQ(call.strace(),
            "5, [{iov_base=\"hell\", iov_len=4}, {iov_base=\"o\\n\", iov_len=40}], 2");
  EXPECT_EQ(TestCall("writev", {5, kAt, 100}).in(1, packed(uint64_t{0x10}, uint64_t{4})).strace(),
            "5, [{iov_base=0x10, iov_len=4}, ...], 100");
}

TEST(ArgSockets, Addresses) {
  std::string inet = packed(uint16_t{2}, uint16_t{0x5000}, uint32_t{0x0100007f}, uint64_t{0});
  EXPECT_EQ(TestCall("connect", {3, kAt, 16}).in(1, inet).strace(),
            "3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, 16");
  EXPECT_EQ(TestCall("connect", {3, kAt, 16}).in(1, inet).perf(),
            "fd: 3, uservaddr: {sa_family=AF_INET, sin_port=htons(80), "
            "sin_addr=inet_addr(\"127.0.0.1\")}, addrlen: 16");
  EXPECT_EQ(TestCall("connect", {3, kAt, 110}).in(1, "\1\0/tmp/sock\0\0"sv).strace(),
            "3, {sa_family=AF_UNIX, sun_path=\"/tmp/sock\"}, 110");
  EXPECT_EQ(TestCall("bind", {3, kAt, 8}).in(1, "\1\0\0abstr"sv).strace(),
            "3, {sa_family=AF_UNIX, sun_path=@\"abstr\"}, 8");
  std::string inet6 = packed(uint16_t{10}, uint16_t{0x3500}, uint32_t{0}) + std::string(15, '\0') +
                      "\1" + packed(uint32_t{0});
  EXPECT_EQ(TestCall("connect", {3, kAt, 28}).in(1, inet6).strace(),
            "3, {sa_family=AF_INET6, sin6_port=htons(53), sin6_flowinfo=htonl(0), "
            "inet_pton(AF_INET6, \"::1\", &sin6_addr), "
            "sin6_scope_id=0}, 28");
  EXPECT_EQ(TestCall("connect", {3, kAt, 3}).in(1, "\2\0\1"sv).strace(),
            "3, {sa_family=AF_INET, sa_data=\"\\1\"}, 3");
}

TEST(ArgSockets, TheKernelSaysHowLongAnAddressIs) {
  TestCall call("getsockname", {14, kAt, 0x8000});
  call.out(1, "\1\0\0abstr"sv).in(2, packed(int32_t{110})).out(2, packed(int32_t{8}));
  EXPECT_EQ(call.strace(), "14, {sa_family=AF_UNIX, sun_path=@\"abstr\"}, [110 => 8]");
}

TEST(ArgSockets, TypesAndOptions) {
  EXPECT_EQ(TestCall("socket", {1, 0x80001, 0}).perf(), "family: LOCAL, type: STREAM|CLOEXEC");
  EXPECT_EQ(TestCall("socket", {2, 1, 6}).strace(), "AF_INET, SOCK_STREAM, IPPROTO_TCP");
  EXPECT_EQ(TestCall("socket", {16, 3, 0}).strace(), "AF_NETLINK, SOCK_RAW, NETLINK_ROUTE");
  EXPECT_EQ(TestCall("setsockopt", {3, 1, 2, kAt, 4}).in(3, packed(int32_t{1})).strace(),
            "3, SOL_SOCKET, SO_REUSEADDR, [1], 4");
  EXPECT_EQ(TestCall("setsockopt", {3, 1, 13, kAt, 8}).in(3, packed(1, 5)).strace(),
            "3, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, 8");
}

TEST(ArgMessages, AMessageLeadsToItsParts) {
  TestCall call("recvmsg", {15, kAt, 0}, 6);
  call.out(1, packed(uint64_t{0}, uint64_t{0}, uint64_t{0x10}, uint64_t{2}, uint64_t{0x20},
                     uint64_t{20}, uint64_t{0}));
  call.out(1, packed(uint64_t{0x30}, uint64_t{4}, uint64_t{0x40}, uint64_t{40}), kMessageIovec);
  call.out(1, "abcd", kMessageData).out(1, "ef", kMessageData + 1);
  call.out(1, packed(uint64_t{20}, uint32_t{1}, uint32_t{1}, int32_t{7}), kMessageControl);
  EXPECT_EQ(call.strace(),
            "15, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"abcd\", iov_len=4}, "
            "{iov_base=\"ef\", iov_len=40}], "
            "msg_iovlen=2, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
            "cmsg_data=[7]}], "
            "msg_controllen=20, msg_flags=0}, 0");
}

std::string stat_of(uint32_t mode, uint64_t rdev, int64_t size) {
  return packed(uint64_t{1}, uint64_t{2}, uint64_t{1}, mode, uint32_t{0}, uint32_t{0}, uint32_t{0},
                rdev, size) +
         std::string(88, '\0');
}

TEST(ArgStat, AFilesTypeSaysWhatIsShown) {
  EXPECT_EQ(TestCall("fstat", {3, kAt}).out(1, stat_of(0100644, 0, 1294)).strace(),
            "3, {st_mode=S_IFREG|0644, st_size=1294, ...}");
  EXPECT_EQ(TestCall("fstat", {3, kAt}).out(1, stat_of(0020666, 0x103, 0)).strace(),
            "3, {st_mode=S_IFCHR|0666, st_rdev=makedev(0x1, 0x3), ...}");
  EXPECT_EQ(TestCall("fstat", {3, kAt}).out(1, stat_of(0041777, 0, 1)).strace(),
            "3, {st_mode=S_IFDIR|S_ISVTX|0777, st_size=1, ...}");
  EXPECT_EQ(TestCall("fstat", {3, kAt}, -9).strace(), "3, 0x7000");
}

TEST(ArgStat, ProgramsOf32BitsHaveAnotherStructure) {
  std::string stat = packed(uint64_t{1}, 0, 5, 0100644, 1, 0, 0, uint64_t{0}, 0, int64_t{1294}) +
                     std::string(44, '\0');
  EXPECT_EQ(TestCall("fstat64", {3, kAt}, 0, SyscallAbi::kI386).out(1, stat).strace(),
            "3, {st_mode=S_IFREG|0644, st_size=1294, ...}");
  std::string on_arm =
      packed(uint64_t{1}, 0, 5, 0100644, 1, 0, 0, uint64_t{0}, 0, 0, int64_t{1294}) +
      std::string(48, '\0');
  EXPECT_EQ(TestCall("fstat64", {3, kAt}, 0, SyscallAbi::kArm).out(1, on_arm).strace(),
            "3, {st_mode=S_IFREG|0644, st_size=1294, ...}");
}

TEST(ArgStat, EntriesOfADirectoryAreCounted) {
  std::string entry = packed(uint64_t{1}, uint64_t{1}, uint16_t{24}) + "\4.\0\0\0\0"s;
  EXPECT_EQ(TestCall("getdents64", {6, kAt, 512}, 48).out(1, entry + entry).strace(),
            "6, 0x7000 /* 2 entries */, 512");
  EXPECT_EQ(TestCall("getdents64", {6, kAt, 512}, 0).strace(), "6, 0x7000 /* 0 entries */, 512");
}

TEST(ArgTimes, Structures) {
  EXPECT_EQ(TestCall("nanosleep", {kAt, 0}).in(0, packed(uint64_t{0}, uint64_t{1000000})).strace(),
            "{tv_sec=0, tv_nsec=1000000}, NULL");
  EXPECT_EQ(TestCall("timerfd_settime", {22, 0, kAt, 0})
                .in(2, packed(uint64_t{0}, uint64_t{0}, uint64_t{1}, uint64_t{500}))
                .strace(),
            "22, 0, {it_interval={tv_sec=0, tv_nsec=0}, it_value={tv_sec=1, tv_nsec=500}}, NULL");
  EXPECT_EQ(TestCall("utimensat", {static_cast<uint32_t>(-100), 0, kAt, 0})
                .in(2, packed(uint64_t{1}, uint64_t{2}, uint64_t{0}, uint64_t{0x3fffffff}))
                .strace(),
            "AT_FDCWD, NULL, [{tv_sec=1, tv_nsec=2}, UTIME_NOW], 0");
}

TEST(ArgSignals, SetsAndHandlers) {
  uint64_t user_and_child = 1U << 9 | 1U << 16;
  EXPECT_EQ(TestCall("rt_sigprocmask", {0, kAt, 0, 8}).in(1, packed(user_and_child)).strace(),
            "SIG_BLOCK, [USR1 CHLD], NULL, 8");
  EXPECT_EQ(TestCall("rt_sigprocmask", {2, kAt, 0, 8}).in(1, packed(~(3ULL << 31))).strace(),
            "SIG_SETMASK, ~[RTMIN RT_1], NULL, 8");
  std::string action =
      packed(uint64_t{0x5000}, uint64_t{0x14000000}, uint64_t{0x6000}, uint64_t{0});
  EXPECT_EQ(TestCall("rt_sigaction", {12, kAt, 0, 8}).in(1, action).strace(),
            "SIGUSR2, {sa_handler=0x5000, sa_mask=[], sa_flags=SA_RESTORER|SA_RESTART, "
            "sa_restorer=0x6000}, NULL, 8");
}

TEST(ArgSignals, WhatATimerDoes) {
  std::string event = packed(uint64_t{7}, 14, 0) + std::string(48, '\0');
  EXPECT_EQ(TestCall("timer_create", {1, kAt, 0}).in(1, event).strace(),
            "CLOCK_MONOTONIC, {sigev_value={sival_int=7, sival_ptr=0x7}, sigev_signo=SIGALRM, "
            "sigev_notify=SIGEV_SIGNAL}, NULL");
}

TEST(ArgFiles, AnEventOfPerf) {
  std::string attr = packed(uint32_t{1}, uint32_t{136}, uint64_t{9}, uint64_t{4000},
                            uint64_t{0x107}, uint64_t{4}, uint64_t{0x401}) +
                     std::string(16, '\0');
  EXPECT_EQ(TestCall("perf_event_open", {kAt, 0, 1, UINT64_MAX, 8}).in(0, attr).strace(),
            "{type=PERF_TYPE_SOFTWARE, size=0x88, config=0x9, sample_freq=4000, sample_type=0x107, "
            "read_format=0x4, "
            "disabled=1, inherit=0, ...}, 0, 1, -1, PERF_FLAG_FD_CLOEXEC");
}

TEST(ArgProcesses, HowAChildEnded) {
  auto status = [](uint32_t value) {
    return TestCall("wait4", {7, kAt, 0, 0}, 7).out(1, packed(value)).strace();
  };
  EXPECT_EQ(status(0x300), "7, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL");
  EXPECT_EQ(TestCall("wait4", {7, kAt, 1, 0}, 0).out(1, packed(0x300)).strace(),
            "7, 0x7000, WNOHANG, NULL")
      << "nobody has ended: what is there is not the kernel's";
  EXPECT_EQ(status(9), "7, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL");
  EXPECT_EQ(status(0x8b),
            "7, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}], 0, NULL");
  EXPECT_EQ(status(0x137f), "7, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], 0, NULL");
}

TEST(ArgProcesses, Limits) {
  EXPECT_EQ(TestCall("prlimit64", {0, 3, 0, kAt})
                .out(3, packed(uint64_t{8192 * 1024}, UINT64_MAX))
                .strace(),
            "0, RLIMIT_STACK, NULL, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}");
  EXPECT_EQ(
      TestCall("getrlimit", {7, kAt}).out(1, packed(uint64_t{20000}, uint64_t{1024})).strace(),
      "RLIMIT_NOFILE, {rlim_cur=20000, rlim_max=1024}");
}

TEST(ArgProcesses, SetsOfCpus) {
  EXPECT_EQ(
      TestCall("sched_getaffinity", {0, 128, kAt}, 8).out(2, packed(uint64_t{0x103})).strace(),
      "0, 128, [0 1 8]");
}

TEST(ArgPolls, WhatIsWaitedFor) {
  std::string fds = packed(11, int16_t{1}, int16_t{0}, 12, int16_t{5}, int16_t{0});
  EXPECT_EQ(TestCall("poll", {kAt, 2, 100}, 0).in(0, fds).strace(),
            "[{fd=11, events=POLLIN}, {fd=12, events=POLLIN|POLLOUT}], 2, 100");
  EXPECT_EQ(TestCall("epoll_wait", {18, kAt, 4, 100}, 1)
                .out(1, packed(uint32_t{1}, uint32_t{7}, uint32_t{0}))
                .strace(),
            "18, [{events=EPOLLIN, data={u32=7, u64=7}}], 4, 100");
  EXPECT_EQ(TestCall("epoll_wait", {18, kAt, 4, 100}, 0).strace(), "18, [], 4, 100");
  EXPECT_EQ(TestCall("select", {12, kAt, 0, 0, 0}).in(1, packed(uint64_t{0x808})).strace(),
            "12, [3 11], NULL, NULL, NULL");
  EXPECT_EQ(TestCall("pipe2", {kAt, 0x800}).out(0, packed(8, 9)).strace(), "[8, 9], O_NONBLOCK");
}

TEST(ArgPolls, WhatIsReadyIsPartOfTheResult) {
  std::string asked = packed(11, int16_t{1}, int16_t{0}, 12, int16_t{5}, int16_t{0});
  std::string found = packed(11, int16_t{1}, int16_t{0}, 12, int16_t{5}, int16_t{4});
  TestCall call("poll", {kAt, 2, 100}, 1);
  call.in(0, asked).out(0, found);
  EXPECT_EQ(call.strace(), "[{fd=11, events=POLLIN}, {fd=12, events=POLLIN|POLLOUT}], 2, 100");
  EXPECT_EQ(call.result(), "1 ([{fd=12, revents=POLLOUT}])");
  EXPECT_EQ(TestCall("poll", {kAt, 1, 100}, 0).result(), "0 (Timeout)");
}

TEST(ArgControl, Terminals) {
  std::string terminal = packed(0x500, 5, 0xbf, 0x8a3b) + std::string(20, '\0');
  EXPECT_EQ(TestCall("ioctl", {0, 0x5401, kAt}).out(2, terminal).strace(),
            "0, TCGETS, {B38400 opost isig icanon echo ...}");
}

TEST(ArgControl, Locks) {
  std::string lock = packed(int16_t{0}, int16_t{0}, 0, int64_t{0}, int64_t{10}, uint64_t{0});
  EXPECT_EQ(TestCall("fcntl", {3, 6, kAt}).in(2, lock).strace(),
            "3, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=0, l_len=10}");
}

TEST(ArgControl, ValuesOfCommands) {
  EXPECT_EQ(TestCall("ioctl", {11, 0x5421, kAt}).in(2, packed(1, 0)).strace(), "11, FIONBIO, [1]");
  EXPECT_EQ(
      TestCall("ioctl", {0, 0x5413, kAt}).out(2, packed(uint16_t{24}, uint16_t{80}, 0)).strace(),
      "0, TIOCGWINSZ, {ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=0}");
  EXPECT_EQ(TestCall("ioctl", {0, 0x5413, kAt}, -25).strace(), "0, TIOCGWINSZ, 0x7000");
}

TEST(ArgMemoryOf, WhatIsTooShortStaysAnAddress) {
  EXPECT_EQ(TestCall("fstat", {3, kAt}).out(1, "short").strace(), "3, 0x7000");
  EXPECT_EQ(TestCall("nanosleep", {kAt, 0}).in(0, "short").strace(), "0x7000, NULL");
}

}  // namespace
}  // namespace sonde
