#include "trace/arguments/arg_text.h"

#include <gtest/gtest.h>

#include <array>

#include "trace/arguments/arg_test_event.h"

namespace sonde {
namespace {

using namespace std::literals;

constexpr uint64_t kCwd = static_cast<uint32_t>(-100);
constexpr uint64_t kMinusOne = UINT64_MAX;

TEST(ArgText, PerfsSpellingHasNamesAndLeavesZerosOut) {
  EXPECT_EQ(TestCall("openat", {kCwd, 0x1e5b90b1, 0x80000}).perf(),
            "dfd: CWD, filename: 0x1e5b90b1, flags: RDONLY|CLOEXEC");
  EXPECT_EQ(TestCall("mmap", {0, 8192, 3, 0x22, kMinusOne, 0}).perf(),
            "len: 8192, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS");
  EXPECT_EQ(TestCall("mmap", {0x7fab1e3bd000, 4096, 5, 0x812, 4, 0x26000}).perf(),
            "addr: 0x7fab1e3bd000, len: 4096, prot: READ|EXEC, flags: PRIVATE|FIXED|DENYWRITE, fd: "
            "4, off: 0x26000");
  EXPECT_EQ(TestCall("lseek", {4, 0, 0}).perf(), "fd: 4, whence: SET")
      << "an enumerator has a name, zero or not";
  EXPECT_EQ(TestCall("brk", {0}).perf(), "");
  EXPECT_EQ(TestCall("lseek", {4, 0, 0}).text({.show_zeros = true}),
            "fd: 4, offset: 0, whence: SET");
  EXPECT_EQ(TestCall("lseek", {4, 0, 1}).text({.show_names = false, .show_prefixes = true}),
            "4, SEEK_CUR");
}

TEST(ArgText, StracesSpellingHasNeither) {
  EXPECT_EQ(TestCall("openat", {kCwd, 0x1000, 0x80000}).in(1, "/etc/passwd\0"sv).strace(),
            "AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC");
  EXPECT_EQ(TestCall("mmap", {0, 8192, 3, 0x22, kMinusOne, 0}).strace(),
            "NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0");
  EXPECT_EQ(TestCall("mprotect", {0x1000, 4096, 0}).strace(), "0x1000, 4096, PROT_NONE");
  EXPECT_EQ(TestCall("lseek", {3, 0, 9}).strace(), "3, 0, 0x9 /* SEEK_??? */");
}

TEST(ArgText, WhatWasCapturedIsShownBehindPerfsNames) {
  EXPECT_EQ(TestCall("openat", {kCwd, 0x1000, 0x241, 0644}).in(1, "/tmp/x\0"sv).perf(),
            "dfd: CWD, filename: \"/tmp/x\", flags: WRONLY|CREAT|TRUNC, mode: IRUGO|IWUSR");
  EXPECT_EQ(TestCall("read", {3, 0x7000, 4096}, 5).out(1, "root:").perf(),
            "fd: 3, buf: \"root:\", count: 4096");
  EXPECT_EQ(TestCall("read", {3, 0x7000, 4096}, -9).perf(), "fd: 3, buf: 0x7000, count: 4096");
  EXPECT_EQ(TestCall("read", {3, 0x7000, 4096}).unfinished().perf(),
            "fd: 3, buf: 0x7000, count: 4096");
  EXPECT_EQ(TestCall("read", {3, 0x7000, 4096}, 0).perf(), "fd: 3, buf: \"\", count: 4096");
}

TEST(ArgText, AModeIsShownOnlyWhereSomethingIsCreated) {
  EXPECT_EQ(TestCall("open", {0x1000, 0, 0777}).strace(), "0x1000, O_RDONLY");
  EXPECT_EQ(TestCall("open", {0x1000, 0x42, 0}).strace(), "0x1000, O_RDWR|O_CREAT, 000");
  EXPECT_EQ(TestCall("mknodat", {kCwd, 0, 0010600, 5}).strace(), "AT_FDCWD, NULL, S_IFIFO|0600");
  EXPECT_EQ(TestCall("mknodat", {kCwd, 0, 0020600, 0x103}).strace(),
            "AT_FDCWD, NULL, S_IFCHR|0600, makedev(0x1, 0x3)");
  EXPECT_EQ(TestCall("umask", {022}).perf(), "mask: 022");
}

TEST(ArgText, UnknownBitsAndValuesAreNumbers) {
  EXPECT_EQ(TestCall("pipe2", {0x1000, 0x80800 | 0x3}).perf(),
            "fildes: 0x1000, flags: NONBLOCK|CLOEXEC|0x3");
  EXPECT_EQ(TestCall("ioctl", {3, 0x5490, 0}).strace(), "3, _IOC(_IOC_NONE, 0x54, 0x90, 0), 0");
  EXPECT_EQ(TestCall("ioctl", {3, 0x80045a03, 16}).perf(),
            "fd: 3, cmd: (READ, 0x5a, 0x3, 0x4), arg: 0x10");
  EXPECT_EQ(TestCall("kill", {5, 64}).strace(), "5, SIGRT_32");
  EXPECT_EQ(TestCall("kill", {5, 99}).perf(), "pid: 5, sig: 99");
}

TEST(ArgText, OperationsHaveTheArgumentsThatTheyLookAt) {
  EXPECT_EQ(TestCall("futex", {0x1000, 129, 1, 2, 3, 4}).perf(),
            "uaddr: 0x1000, op: WAKE|PRIVATE_FLAG, val: 1");
  EXPECT_EQ(
      TestCall("futex", {0x1000, 0x189, 1, 0, 3, UINT32_MAX}).strace(),
      "0x1000, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 1, NULL, FUTEX_BITSET_MATCH_ANY");
  EXPECT_EQ(TestCall("futex", {0x1000, 3, 1, 5, 0x3000, 4}).strace(),
            "0x1000, FUTEX_REQUEUE, 1, 5, 0x3000");
  EXPECT_EQ(TestCall("prctl", {15, 0x1000, 7, 8, 9}).in(1, "name\0"sv).strace(),
            "PR_SET_NAME, \"name\"");
  EXPECT_EQ(TestCall("fcntl", {3, 1, 77}).strace(), "3, F_GETFD");
  EXPECT_EQ(TestCall("fcntl", {3, 4, 0x800}).perf(), "fd: 3, cmd: SETFL, arg: RDONLY|NONBLOCK");
}

TEST(ArgText, NamesOfFilesCannotBreakALine) {
  FdNames fds;
  TestCall call("openat", {kCwd, 0x1000, 0}, 3);
  call.in(1, "/tmp/a\nb\"\0"sv);
  fds.follow(call.event(), call.call());
  std::string out;
  append_arguments(out, TestCall("close", {3}).event(), *SyscallTable::get().find("close"), fds,
                   {});
  EXPECT_EQ(out, "fd: 3</tmp/a\\nb\">");
}

TEST(ArgText, DescriptorsAreNamedByWhatTheCallWasSeenToUse) {
  FdNames fds;
  TestCall call("dup2", {3, 4});
  SyscallEvent event = call.event();
  std::array files = {ArgFile{.arg = 0, .name = "/new"}, ArgFile{.arg = 1, .name = ""}};
  event.files = files;
  std::string out;
  append_arguments(out, event, call.call(), fds, {});
  EXPECT_EQ(out, "oldfd: 3</new>, newfd: 4");
}

TEST(ArgText, FlagsSayWhichAddressesAreLookedAt) {
  EXPECT_EQ(TestCall("clone", {0x11, 0, 7, 8, 9}).perf(), "clone_flags: SIGCHLD");
  EXPECT_EQ(TestCall("mremap", {0x1000, 1, 2, 1, 0x2000}).strace(), "0x1000, 1, 2, MREMAP_MAYMOVE");
  EXPECT_EQ(TestCall("mremap", {0x1000, 1, 2, 3, 0x2000}).strace(),
            "0x1000, 1, 2, MREMAP_MAYMOVE|MREMAP_FIXED, 0x2000");
  EXPECT_EQ(TestCall("shmget", {0, 4096, 01600}).strace(), "IPC_PRIVATE, 4096, IPC_CREAT|0600");
}

TEST(ArgText, StatxIsToldHowToSynchronise) {
  EXPECT_EQ(TestCall("statx", {kCwd, 0, 0x900, 0x7ff, 0}).strace(),
            "AT_FDCWD, NULL, AT_STATX_SYNC_AS_STAT|AT_SYMLINK_NOFOLLOW|AT_NO_AUTOMOUNT, "
            "STATX_BASIC_STATS, NULL");
  EXPECT_EQ(TestCall("statx", {kCwd, 0, 0x4000, 1, 0}).perf(),
            "dfd: CWD, flags: STATX_DONT_SYNC, mask: TYPE");
}

TEST(ArgText, CloneEndsWithASignal) {
  EXPECT_EQ(TestCall("clone", {0x1200011, 0, 0, 0x7f00, 0}).perf(),
            "clone_flags: CHILD_CLEARTID|CHILD_SETTID|SIGCHLD, child_tidptr: 0x7f00");
}

TEST(ArgResult, ErrorsHaveTheirNames) {
  EXPECT_EQ(TestCall("close", {9}, -9).result(), "-1 EBADF (Bad file descriptor)");
  EXPECT_EQ(TestCall("close", {9}, 0).result(), "0");
  EXPECT_EQ(TestCall("close", {9}, -4000).result(), "-1 4000");
  EXPECT_EQ(TestCall("lseek", {9, 0, 0}, -5000).result(), "-5000") << "no error: those end at 4095";
}

TEST(ArgResult, IsWrittenAsTheCallMeansIt) {
  EXPECT_EQ(TestCall("mmap", {}, 0x7fab1e586000).result(), "0x7fab1e586000");
  EXPECT_EQ(TestCall("mmap2", {}, static_cast<int32_t>(0xf7000000), SyscallAbi::kI386).result(),
            "0xf7000000");
  EXPECT_EQ(TestCall("exit_group", {3}, 0).result(), "?");
  EXPECT_EQ(TestCall("umask", {022}, 022).result(), "022");
  EXPECT_EQ(TestCall("fcntl", {3, 3}, 0x8000).result(), "RDONLY|LARGEFILE");
  EXPECT_EQ(TestCall("fcntl", {3, 3}, 0x8000).result(ArgFormat::kStrace),
            "0x8000 (flags O_RDONLY|O_LARGEFILE)");
}

TEST(ArgText, ProgramsOf32BitsHaveOtherRegisters) {
  // 1 << 32 | 5, in two registers.
  EXPECT_EQ(TestCall("pread64", {3, 0x1000, 10, 5, 1}, 0, SyscallAbi::kI386).unfinished().strace(),
            "3, 0x1000, 10, 4294967301");
  EXPECT_EQ(
      TestCall("pread64", {3, 0x1000, 10, 0, 5, 1}, 0, SyscallAbi::kArm).unfinished().strace(),
      "3, 0x1000, 10, 4294967301");
  EXPECT_EQ(TestCall("nanosleep", {0x1000, 0}, 0, SyscallAbi::kI386)
                .in(0, packed(int32_t{1}, int32_t{500}))
                .strace(),
            "{tv_sec=1, tv_nsec=500}, NULL");
  EXPECT_EQ(TestCall("read", {kMinusOne, 0, 0}, 0, SyscallAbi::kI386).unfinished().strace(),
            "-1, NULL, 0");
}

TEST(ArgText, FlagsOfOpenDifferOnArm) {
  EXPECT_EQ(TestCall("openat", {kCwd, 0, 0x4000}, 0, SyscallAbi::kArm64).strace(),
            "AT_FDCWD, NULL, O_RDONLY|O_DIRECTORY");
  EXPECT_EQ(TestCall("openat", {kCwd, 0, 0x10000}).strace(),
            "AT_FDCWD, NULL, O_RDONLY|O_DIRECTORY");
}

}  // namespace
}  // namespace sonde
