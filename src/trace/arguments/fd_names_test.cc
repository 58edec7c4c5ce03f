#include "trace/arguments/fd_names.h"

#include <gtest/gtest.h>

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

TEST(FdNames, RangesAreClosed) {
  FdNames names;
  for (int fd : {3, 4, 5}) follow(names, opening("/a", fd));
  follow(names, TestCall("close_range", {4, UINT32_MAX, 0}));
  EXPECT_EQ(names.name(100, 3), "/a");
  EXPECT_EQ(names.name(100, 4), "");
}

}  // namespace
}  // namespace sonde
