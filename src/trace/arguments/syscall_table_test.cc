#include "trace/arguments/syscall_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const SyscallTable& table() {
  return SyscallTable::get();
}

std::vector<std::string_view> names(std::string_view pattern,
                                    SyscallAbi abi = SyscallAbi::kX86_64) {
  std::vector<std::string_view> found;
  for (const Syscall* call : table().match(pattern, abi)) found.push_back(call->name);
  return found;
}

TEST(SyscallTable, ANumberMeansAnotherCallInEachTable) {
  EXPECT_EQ(table().find(SyscallAbi::kX86_64, 257)->name, "openat");
  EXPECT_EQ(table().find(SyscallAbi::kArm64, 56)->name, "openat");
  EXPECT_EQ(table().find(SyscallAbi::kI386, 295)->name, "openat");
  EXPECT_EQ(table().find(SyscallAbi::kArm, 322)->name, "openat");
  EXPECT_EQ(table().find(SyscallAbi::kX86_64, 335)->name, "uretprobe");
  EXPECT_EQ(table().find(SyscallAbi::kX86_64, 400), nullptr);
  EXPECT_EQ(table().find(SyscallAbi::kX86_64, 4000000000U), nullptr);
}

TEST(SyscallTable, ACallIsFoundByBothOfItsNames) {
  EXPECT_EQ(table().find("stat"), table().find("newstat"));
  EXPECT_EQ(table().find("sendfile")->kernel_name, "sendfile64");
  EXPECT_EQ(table().find("nosuchcall"), nullptr);
}

TEST(SyscallTable, EveryArgumentHasANameAndEveryLengthAnArgument) {
  for (const Syscall& call : table().all()) {
    for (const SyscallArg& arg : call.arguments()) {
      EXPECT_FALSE(arg.name.empty()) << call.name;
      EXPECT_LT(arg.length_arg, std::max<uint8_t>(call.arg_count, 1))
          << call.name << " " << arg.name;
      EXPECT_EQ(arg.shape != MemoryShape::kNone, arg.at_entry || arg.at_exit)
          << call.name << " " << arg.name;
    }
  }
}

TEST(SyscallTable, PatternsAreNamesGlobsAndGroups) {
  EXPECT_THAT(names("openat"), ElementsAre("openat"));
  EXPECT_THAT(names("openat*"), ElementsAre("openat", "openat2"));
  EXPECT_THAT(names("newstat"), ElementsAre("stat"));
  EXPECT_THAT(names("file"), Contains("rename"));
  EXPECT_THAT(names("%file"), Not(Contains("close")));
  EXPECT_EQ(names("net"), names("%network"));
  EXPECT_THAT(names("stat"), ElementsAre("stat")) << "a call before a group";
  EXPECT_THAT(names("%stat"), ElementsAre("stat"));
  EXPECT_THAT(names("nosuch"), IsEmpty());
  EXPECT_THAT(names("%nosuch"), IsEmpty());
}

TEST(SyscallTable, PatternsMeanOnlyWhatAnArchitectureHas) {
  EXPECT_THAT(names("open", SyscallAbi::kArm64), IsEmpty());
  EXPECT_THAT(names("mmap*", SyscallAbi::kI386), ElementsAre("mmap", "mmap2"));
}

std::vector<CaptureRule> rules(std::string_view name, SyscallAbi abi = SyscallAbi::kX86_64) {
  return capture_rules(*table().find(name), abi, CaptureLimits{.string_bytes = 40});
}

TEST(CaptureRules, AStringIsReadAtEntryUpToTheLengthOfAPath) {
  ASSERT_EQ(rules("openat").size(), 1U);
  CaptureRule rule = rules("openat")[0];
  EXPECT_EQ(rule.arg, 1);
  EXPECT_FALSE(rule.at_exit);
  EXPECT_EQ(rule.shape, MemoryShape::kString);
  EXPECT_EQ(rule.max_bytes, 4096);
}

TEST(CaptureRules, ABufferIsReadAtExitAsFarAsTheResultSays) {
  ASSERT_EQ(rules("read").size(), 1U);
  EXPECT_TRUE(rules("read")[0].at_exit);
  EXPECT_EQ(rules("read")[0].shape, MemoryShape::kResult);
  EXPECT_EQ(rules("read")[0].max_bytes, 40);
  EXPECT_EQ(rules("write")[0].shape, MemoryShape::kCounted);
  EXPECT_EQ(rules("write")[0].length_arg, 2);
}

TEST(CaptureRules, ArraysAreCountedInElements) {
  CaptureRule rule = rules("poll")[0];
  EXPECT_EQ(rule.element_bytes, 8);
  EXPECT_EQ(rule.max_bytes, 8 * 32);
  EXPECT_EQ(rules("epoll_wait")[0].element_bytes, 12);
  EXPECT_EQ(rules("epoll_pwait", SyscallAbi::kArm64).back().element_bytes, 16);
}

TEST(CaptureRules, ProgramsOf32BitsHaveSmallerStructuresAndSplitArguments) {
  EXPECT_EQ(rules("nanosleep")[0].element_bytes, 16);
  EXPECT_EQ(rules("nanosleep", SyscallAbi::kI386)[0].element_bytes, 8);
  EXPECT_EQ(rules("execve", SyscallAbi::kArm)[1].pointer_bytes, 4);
  // The mask takes two registers; on arm they must be an even pair.
  EXPECT_EQ(rules("fanotify_mark")[0].arg, 4);
  EXPECT_EQ(rules("fanotify_mark", SyscallAbi::kI386)[0].arg, 5);
  const Syscall& pread = *table().find("pread64");
  EXPECT_EQ(register_of(pread, 3, SyscallAbi::kI386), 3U);
  EXPECT_EQ(register_of(pread, 3, SyscallAbi::kArm), 4U);
}

TEST(DescriptorRegisters, AreThoseWhoseNamesAreShown) {
  auto registers = [](std::string_view name, SyscallAbi abi = SyscallAbi::kX86_64) {
    return unsigned{descriptor_registers(*table().find(name), abi)};
  };
  EXPECT_EQ(registers("read"), 1U);
  EXPECT_EQ(registers("getpid"), 0U);
  EXPECT_EQ(registers("openat"), 1U) << "the directory";
  EXPECT_EQ(registers("mmap"), 1U << 4);
  EXPECT_EQ(registers("dup2"), 3U);
  EXPECT_EQ(registers("renameat"), 0b101U);
  EXPECT_EQ(registers("fanotify_mark"), 0b01001U);
  EXPECT_EQ(registers("fanotify_mark", SyscallAbi::kI386), 0b10001U)
      << "the mask before it takes two registers";
}

TEST(CaptureRules, NoRuleLooksBeyondTheRegisters) {
  for (SyscallAbi abi :
       {SyscallAbi::kX86_64, SyscallAbi::kI386, SyscallAbi::kArm64, SyscallAbi::kArm}) {
    for (const Syscall& call : table().all()) {
      for (const CaptureRule& rule : capture_rules(call, abi, {})) {
        EXPECT_LT(rule.arg, 6) << call.name;
        EXPECT_LT(rule.length_arg, 6) << call.name;
        EXPECT_TRUE(rule.max_bytes > 0 || rule.shape == MemoryShape::kStringArray) << call.name;
        EXPECT_GT(rule.element_bytes, 0) << call.name;
      }
    }
  }
}

}  // namespace
}  // namespace sonde
