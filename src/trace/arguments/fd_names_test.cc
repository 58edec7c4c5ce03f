#include "trace/arguments/fd_names.h"

#include <gtest/gtest.h>

#include <optional>

#include "trace/arguments/arg_test_event.h"

namespace sonde {
namespace {

using namespace std::literals;

constexpr uint64_t kAtCwd = static_cast<uint32_t>(-100), kCloseOnExec = 0x80000;

void follow(FdNames& names, TestCall call) {
  names.follow(call.event(), call.call());
}
TestCall opening(std::string_view path, int fd, uint64_t flags = 0) {
  TestCall call("openat", {kAtCwd, 0x1000, flags}, fd);
  call.in(1, std::string(path) + '\0');
  return call;
}

class FakeMachine : public FdSource {
 public:
  int questions = 0;
  std::string fd(int32_t, int32_t fd) override {
    questions++;
    return fd == 0 ? "/dev/tty" : fd == 7 ? "socket:[12]" : "";
  }
  std::string working_directory(int32_t) override { return "/home"; }
  std::string comm(int32_t tid) override { return tid == 100 ? "bash" : ""; }
  uint64_t now = 0;
  uint64_t now_ns() override { return now; }
};

TEST(FdNames, AreWhatWasOpened) {
  FdNames names;
  follow(names, opening("/etc/passwd", 3));
  EXPECT_EQ(names.name(100, 3), "/etc/passwd");
  EXPECT_EQ(names.name(101, 3), "");
  EXPECT_EQ(names.name(100, 4), "");
  follow(names, TestCall("close", {3}));
  EXPECT_EQ(names.name(100, 3), "");
}

TEST(FdNames, FailuresAndUnfinishedCallsChangeNothing) {
  FdNames names;
  follow(names, opening("/a", 3));
  follow(names, TestCall("close", {3}, -4));
  follow(names, TestCall("close", {3}).unfinished());
  follow(names, opening("/b", -2));
  EXPECT_EQ(names.name(100, 3), "/a");
}

TEST(FdNames, AreCopiedWithTheirDescriptors) {
  FdNames names;
  follow(names, opening("/a", 3));
  follow(names, TestCall("dup2", {3, 20}, 20));
  follow(names, TestCall("dup", {3}, 4));
  follow(names, TestCall("fcntl", {3, 1030, 30}, 30));
  EXPECT_EQ(names.name(100, 20), "/a");
  EXPECT_EQ(names.name(100, 4), "/a");
  EXPECT_EQ(names.name(100, 30), "/a");
  // exec keeps the descriptors that are not marked close-on-exec.
  follow(names, TestCall("execve", {0, 0, 0}));
  EXPECT_EQ(names.name(100, 20), "/a");
  EXPECT_EQ(names.name(100, 30), "");
}

TEST(FdNames, MarksOfCloseOnExecAreFollowed) {
  FdNames names;
  follow(names, opening("/a", 3, kCloseOnExec));
  follow(names, opening("/b", 4));
  follow(names, TestCall("fcntl", {4, 2, 1}));
  follow(names, opening("/c", 5, kCloseOnExec));
  follow(names, TestCall("fcntl", {5, 2, 0}));
  follow(names, TestCall("execve", {0, 0, 0}));
  EXPECT_EQ(names.name(100, 3), "");
  EXPECT_EQ(names.name(100, 4), "");
  EXPECT_EQ(names.name(100, 5), "/c");
}

TEST(FdNames, AChildBeginsWithItsParents) {
  FdNames names;
  follow(names, opening("/a", 3));
  follow(names, TestCall("fork", {}, 200));
  follow(names, TestCall("close", {3}));
  EXPECT_EQ(names.name(200, 3), "/a");
  EXPECT_EQ(names.name(100, 3), "");
}

TEST(FdNames, APathIsRelativeToADirectory) {
  FakeMachine machine;
  FdNames names(&machine);
  follow(names, opening("x", 3));
  EXPECT_EQ(names.name(100, 3), "/home/x");
  TestCall change("chdir", {0x1000});
  follow(names, change.in(0, "/tmp\0"sv));
  follow(names, opening("x", 3));
  EXPECT_EQ(names.name(100, 3), "/tmp/x");
  TestCall inside("openat", {3, 0x1000, 0}, 4);
  follow(names, inside.in(1, "y\0"sv));
  EXPECT_EQ(names.name(100, 4), "/tmp/x/y");
  FdNames without;
  follow(without, opening("x", 3));
  EXPECT_EQ(without.name(100, 3), "x");
}

TEST(FdNames, WhatWasNotSeenIsAsked) {
  FakeMachine machine;
  FdNames names(&machine);
  EXPECT_EQ(names.name(100, 0), "/dev/tty");
  follow(names, TestCall("socket", {2, 1, 0}, 7));
  EXPECT_EQ(names.name(100, 7), "socket:[12]");
  EXPECT_EQ(names.name(100, 8), "");
  EXPECT_EQ(names.comm(100), "bash");
  TestCall call("getpid", {}, 100);
  call.set_comm("renamed");
  names.follow(call.event(), call.call());
  EXPECT_EQ(names.comm(100), "renamed");
}

TEST(FdNames, TheSourceIsAskedOnceForEach) {
  FakeMachine machine;
  FdNames names(&machine);
  EXPECT_EQ(names.name(100, 9), "");
  EXPECT_EQ(names.name(100, 9), "");
  EXPECT_EQ(machine.questions, 1);
  TestCall pair("pipe2", {0x1000, 0});
  follow(names, pair.out(0, packed(8, 9)));
  EXPECT_EQ(names.name(100, 9), "");
  EXPECT_EQ(machine.questions, 2) << "it is another one now";
}

TEST(FdNames, WhatHasEndedIsForgotten) {
  FdNames names;
  follow(names, opening("/a", 3));
  names.ended(100, 101);
  EXPECT_EQ(names.name(100, 3), "/a");
  names.ended(100, 100);
  EXPECT_EQ(names.name(100, 3), "");
}

TEST(FdNames, AChildThatWasSeenBeforeItsParentReturnedKeepsItsOwn) {
  FdNames names;
  follow(names, opening("/a", 3));
  TestCall child = opening("/b", 3);
  child.set_pid(200);
  follow(names, std::move(child));
  follow(names, TestCall("vfork", {}, 200));
  EXPECT_EQ(names.name(200, 3), "/b");
}

TEST(FdNames, APlaceIsThatOfTheBeginning) {
  FakeMachine machine;
  FdNames names(&machine);
  names.begins_in(100, "/begin");
  follow(names, opening("x", 3));
  EXPECT_EQ(names.name(100, 3), "/begin/x");
  TestCall there("chdir", {0x1000});
  follow(names, there.in(0, "/there\0"sv));
  follow(names, opening("x", 4));
  EXPECT_EQ(names.name(100, 4), "/there/x");
  TestCall other = opening("x", 5);
  other.set_pid(200);
  follow(names, std::move(other));
  EXPECT_EQ(names.name(200, 5), "/home/x") << "the machine's answer";
}

/// read() of a descriptor at a time, with what its source says about it, if anything.
std::string named_in_read(FdNames& names, int fd, uint64_t at_ns,
                          std::optional<std::string_view> told = {}) {
  SyscallEvent event = TestCall("read", {static_cast<uint64_t>(fd), 0, 1}, 1).event();
  event.entry_ns = at_ns;
  ArgFile file{.arg = 0, .name = told.value_or("")};
  if (told) event.files = std::span(&file, 1);
  return std::string(names.name(event, 0, fd));
}

TEST(FdNames, WhatTheSourceOfTheCallReadIsRight) {
  FakeMachine machine;
  FdNames names(&machine);
  follow(names, opening("/old", 3));
  EXPECT_EQ(named_in_read(names, 3, 10, "/new"), "/new");
  EXPECT_EQ(named_in_read(names, 3, 10, ""), "") << "it has none";
  EXPECT_EQ(named_in_read(names, 3, 10), "/old") << "the source did not say";
  // dup is told what it copies.
  TestCall copy("dup", {3}, 5);
  SyscallEvent event = copy.event();
  ArgFile file{.arg = 0, .name = "/new"};
  event.files = std::span(&file, 1);
  names.follow(event, copy.call());
  EXPECT_EQ(names.name(100, 5), "/new");
}

TEST(FdNames, WithoutAllCallsOnlyThatIsKnown) {
  FakeMachine machine;
  FdNames names(&machine);
  names.has_open(100, 1, "/dev/pts/0");
  names.set_sees_all(false);
  follow(names, opening("/old", 3));
  EXPECT_EQ(named_in_read(names, 3, 10), "") << "close may not have been seen";
  EXPECT_EQ(named_in_read(names, 1, 10), "");
  EXPECT_EQ(named_in_read(names, 0, 10), "");
  EXPECT_EQ(machine.questions, 0) << "an answer could not be used later, either";
  EXPECT_EQ(named_in_read(names, 3, 10, "/new"), "/new");
}

TEST(FdNames, AnAnswerHoldsForLaterCalls) {
  FakeMachine machine;
  FdNames names(&machine);
  machine.now = 50;
  EXPECT_EQ(named_in_read(names, 0, 10), "") << "it may have been another file at that time";
  EXPECT_EQ(named_in_read(names, 0, 49), "");
  EXPECT_EQ(named_in_read(names, 0, 50), "/dev/tty");
  EXPECT_EQ(machine.questions, 1);
  names.has_open(100, 9, "/attached", 60);
  EXPECT_EQ(named_in_read(names, 9, 59), "");
  EXPECT_EQ(named_in_read(names, 9, 60), "/attached");
  // A child that was made before the question has its own.
  TestCall fork("fork", {}, 200);
  SyscallEvent event = fork.event();
  event.entry_ns = event.exit_ns = 40;
  names.follow(event, fork.call());
  machine.now = 70;
  EXPECT_EQ(names.name(200, 0, 60), "");
  EXPECT_EQ(names.name(200, 0, 80), "/dev/tty");
  EXPECT_EQ(machine.questions, 2);
}

TEST(FdNames, ADescriptorThatIsUsedAgainIsTheNewFile) {
  FakeMachine machine;
  FdNames names(&machine);
  machine.now = 5;
  EXPECT_EQ(named_in_read(names, 7, 10), "socket:[12]");
  follow(names, TestCall("close", {7}));
  machine.now = 30;
  EXPECT_EQ(named_in_read(names, 7, 20), "") << "asked again, and too late for this call";
}

TEST(FdNames, ProcessesThatShareTheirDescriptorsHaveNoNames) {
  constexpr uint64_t kShareFiles = 0x400, kNewThread = 0x10000;
  FdNames names;
  follow(names, opening("/a", 3));
  follow(names, TestCall("clone", {kShareFiles | kNewThread}, 101));
  EXPECT_EQ(names.name(100, 3), "/a") << "threads are one process";
  follow(names, TestCall("clone", {kShareFiles}, 200));
  EXPECT_EQ(names.name(100, 3), "") << "the other may close it";
  EXPECT_EQ(names.name(200, 3), "");
  // exec ends the sharing.
  follow(names, TestCall("execve", {0, 0, 0}));
  EXPECT_EQ(names.name(100, 3), "");
  follow(names, opening("/b", 4));
  EXPECT_EQ(names.name(100, 4), "/b");
  FdNames others;
  follow(others, opening("/a", 3));
  TestCall share("clone3", {0x1000, 88}, 200);
  follow(others, share.in(0, packed(kShareFiles)));
  EXPECT_EQ(others.name(100, 3), "");
}

TEST(FdNames, AChildOfClone3BeginsWithItsParents) {
  FdNames names;
  follow(names, opening("/a", 3));
  TestCall spawn("clone3", {0x1000, 88}, 200);
  follow(names, spawn.in(0, packed(uint64_t{0})));
  EXPECT_EQ(names.name(200, 3), "/a");
  follow(names, TestCall("clone3", {0x1000, 88}, 300));
  EXPECT_EQ(names.name(300, 3), "") << "its flags were not captured";
}

TEST(FdNames, ClosingByIoUringIsNotSeen) {
  FdNames names;
  follow(names, opening("/a", 3));
  follow(names, TestCall("io_uring_setup", {8, 0x1000}, 4));
  EXPECT_EQ(names.name(100, 3), "");
}

TEST(FdNames, IoctlMarksForClosing) {
  FdNames names;
  follow(names, opening("/a", 3));
  follow(names, opening("/b", 4, kCloseOnExec));
  follow(names, TestCall("ioctl", {3, 0x5451}));
  follow(names, TestCall("ioctl", {4, 0x5450}));
  follow(names, TestCall("execve", {0, 0, 0}));
  EXPECT_EQ(names.name(100, 3), "");
  EXPECT_EQ(names.name(100, 4), "/b");
}

TEST(FdNames, AfterALossNothingIsKnown) {
  FdNames names;
  follow(names, opening("/a", 3));
  names.lost();
  EXPECT_EQ(names.name(100, 3), "");
}

TEST(FdNames, RangesAreClosed) {
  FdNames names;
  for (int fd : {3, 4, 5}) follow(names, opening("/a", fd));
  follow(names, TestCall("close_range", {4, UINT32_MAX, 0}));
  EXPECT_EQ(names.name(100, 3), "/a");
  EXPECT_EQ(names.name(100, 4), "");
}

}  // namespace
}  // namespace sonde
