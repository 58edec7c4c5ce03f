#include "abi/syscalls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

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
  std::set<int> x86, generic;
  for (const SyscallInfo& call : syscalls()) {
    if (call.x86_64 != SyscallInfo::kNone) {
      EXPECT_TRUE(x86.insert(call.x86_64).second) << call.name;
    }
    if (call.generic != SyscallInfo::kNone) {
      EXPECT_TRUE(generic.insert(call.generic).second) << call.name;
    }
  }
}

}  // namespace
}  // namespace sonde::abi
