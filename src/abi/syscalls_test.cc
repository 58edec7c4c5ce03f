#include "abi/syscalls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <set>

namespace sonde::abi {
namespace {

TEST(Syscalls, NumbersAreTheOnesThatThisMachineIsBuiltWith) {
  EXPECT_EQ(syscall_of_tracepoint("read"), static_cast<uint32_t>(SYS_read));
  EXPECT_EQ(syscall_of_tracepoint("exit_group"), static_cast<uint32_t>(SYS_exit_group));
  EXPECT_EQ(syscall_of_tracepoint("io_uring_setup"), static_cast<uint32_t>(SYS_io_uring_setup));
  EXPECT_EQ(syscall_of_tracepoint("nosuchcall"), std::nullopt);
}

TEST(Syscalls, TracepointsHaveTheKernelsOwnNames) {
  EXPECT_EQ(syscall_of_tracepoint("newuname"), static_cast<uint32_t>(SYS_uname));
  EXPECT_EQ(syscall_of_tracepoint("newfstat"), static_cast<uint32_t>(SYS_fstat));
  EXPECT_EQ(syscall_of_tracepoint("fstat"), std::nullopt);
}

TEST(Syscalls, NoNumberStandsForTwoCalls) {
  for (auto table :
       {&SyscallInfo::x86_64, &SyscallInfo::generic, &SyscallInfo::i386, &SyscallInfo::arm}) {
    std::set<int> taken;
    for (const SyscallInfo& call : syscalls()) {
      if (call.*table != SyscallInfo::kNone) {
        EXPECT_TRUE(taken.insert(call.*table).second) << call.name;
      }
    }
    EXPECT_GT(taken.size(), 300U);
  }
}

TEST(Syscalls, ProgramsOf32BitsHaveNumbersOfTheirOwn) {
  auto find = [](std::string_view name) {
    return *std::ranges::find(syscalls(), name, &SyscallInfo::name);
  };
  EXPECT_EQ(find("read").i386, 3);
  EXPECT_EQ(find("execve").i386, 11);
  EXPECT_EQ(find("mmap2").i386, 192);
  EXPECT_EQ(find("mmap2").arm, 192);
  EXPECT_EQ(find("socket").arm, 281);
  EXPECT_EQ(find("mmap2").x86_64, SyscallInfo::kNone);
}

}  // namespace
}  // namespace sonde::abi
