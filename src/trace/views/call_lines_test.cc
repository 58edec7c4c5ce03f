#include "trace/views/call_lines.h"

#include <gtest/gtest.h>

#include "trace/views/ms_text.h"

namespace sonde {
namespace {

constexpr uint32_t kRead = 0, kClose = 3, kGetpid = 39, kExitGroup = 231;

SyscallEvent entry(uint32_t number, uint64_t at_ns, int tid) {
  SyscallEvent call;
  call.number = number;
  call.pid = call.tid = tid;
  call.entry_ns = at_ns;
  call.has_entry = true;
  return call;
}

SyscallEvent exit(uint32_t number, uint64_t at_ns, int tid, int64_t result) {
  SyscallEvent call;
  call.number = number;
  call.pid = call.tid = tid;
  call.exit_ns = at_ns;
  call.has_exit = true;
  call.result = result;
  return call;
}

SyscallEvent whole(uint32_t number, uint64_t from_ns, uint64_t to_ns, int tid, int64_t result) {
  SyscallEvent call = exit(number, to_ns, tid, result);
  call.entry_ns = from_ns;
  call.has_entry = true;
  return call;
}

/// The text without the arguments and without the padding before the result.
std::string plain(const std::string& text) {
  std::string out;
  bool in_arguments = false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool opens_call =
        c == '(' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
    if (opens_call) in_arguments = true;
    if (in_arguments && c == '(') ++depth;
    if (in_arguments && c == ')' && --depth == 0) in_arguments = false;
    bool doubled = c == ' ' && out.ends_with(") ");
    if ((!in_arguments || opens_call) && !doubled) out += c;
  }
  return out;
}

class CallLinesTest : public testing::Test {
 protected:
  TracedTask& task(int tid) {
    tasks_.rename(tid, tid, tid == 7 ? "cat" : "a-name-of-fifteen");
    return tasks_.of(tid, tid);
  }
  CallTexts texts_;
  TracedTasks tasks_{{}, false};
  std::string out_;
};

TEST_F(CallLinesTest, ALineIsPrintedWhenTheCallReturns) {
  CallLines lines({}, texts_);
  lines.set_base(1'000'000);
  lines.enter(task(7), entry(kClose, 3'500'000, 7), out_);
  EXPECT_EQ(out_, "");
  EXPECT_TRUE(lines.leave(task(7), exit(kClose, 3'502'400, 7, 0), {}, out_));
  EXPECT_EQ(plain(out_), "     2.500 ( 0.002 ms): cat/7 close() = 0\n");
  EXPECT_EQ(lines.lines_made(), 1U);
}

TEST_F(CallLinesTest, TimesCanBeLeftOut) {
  CallLines lines({.show_timestamp = false}, texts_);
  lines.whole(task(7), whole(kClose, 1'000'000, 4'000'000, 7, 0), {}, out_);
  lines.leave(task(7), exit(kRead, 5'000'000, 7, 1), {}, out_);
  EXPECT_EQ(plain(out_),
            "( 3.000 ms): cat/7 close() = 0\n(         ): cat/7  ... [continued]: read()) = 1\n");
}

TEST_F(CallLinesTest, ResultsStandInTheirColumn) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  EXPECT_TRUE(lines.whole(task(7), whole(kGetpid, 1000, 2000, 7, 5), {}, out_));
  // "getpid" and its parentheses are padded to column 70.
  EXPECT_EQ(out_.find('='), out_.find("getpid") + 70);
}

TEST_F(CallLinesTest, AnotherThreadsEntryCutsALineOff) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  lines.enter(task(8), entry(kClose, 2'000'000, 8), out_);
  EXPECT_EQ(plain(out_), "     1.000 (         ): cat/7 read() ...\n");
  out_.clear();
  lines.leave(task(7), exit(kRead, 3'000'000, 7, -4), {}, out_);
  EXPECT_EQ(
      plain(out_),
      "     1.000 ( 2.000 ms): cat/7  ... [continued]: read()) = -1 EINTR (Interrupted system "
      "call)\n");
  out_.clear();
  lines.leave(task(8), exit(kClose, 3'000'000, 8, 0), {}, out_);
  EXPECT_EQ(plain(out_), "     2.000 ( 1.000 ms): a-name-of-fift/8 close() = 0\n");
}

TEST_F(CallLinesTest, AnEntryThatWasNotSeenIsAQuestionMark) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.leave(task(7), exit(kRead, 3'000'000, 7, 1), {}, out_);
  EXPECT_EQ(plain(out_), "         ? (         ): cat/7  ... [continued]: read()) = 1\n");
}

TEST_F(CallLinesTest, TheReturnOfAnotherCallHasNoEntry) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  lines.leave(task(7), exit(kClose, 3'000'000, 7, 0), {}, out_);
  EXPECT_EQ(plain(out_), "         ? (         ): cat/7  ... [continued]: close()) = 0\n");
}

TEST_F(CallLinesTest, ACallThatDoesNotReturnIsPrintedAtOnce) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.enter(task(7), entry(kExitGroup, 1'000'000, 7), out_);
  EXPECT_EQ(plain(out_), "     1.000 (         ): cat/7 exit_group() = ?\n");
}

TEST_F(CallLinesTest, ALongCallComesWithItsEntryAndAgainWhole) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  lines.whole(task(7), whole(kRead, 1'000'000, 4'000'000, 7, 12), {}, out_);
  EXPECT_EQ(plain(out_), "     1.000 ( 3.000 ms): cat/7 read() = 12\n");
}

TEST_F(CallLinesTest, AThreadThatSleepsTwiceInACallIsToldOfOnce) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  EXPECT_EQ(out_, "");
  lines.enter(task(8), entry(kClose, 2'000'000, 8), out_);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  EXPECT_EQ(plain(out_), "     1.000 (         ): cat/7 read() ...\n");
  out_.clear();
  lines.enter(task(9), entry(kExitGroup, 3'000'000, 9), out_);
  out_.clear();
  lines.enter(task(9), entry(kExitGroup, 3'000'000, 9), out_);
  EXPECT_EQ(out_, "");
}

TEST_F(CallLinesTest, OnlyFailuresAndOnlySlowCalls) {
  CallLines failures({.failed_only = true}, texts_);
  EXPECT_FALSE(failures.whole(task(7), whole(kClose, 1, 2, 7, 0), {}, out_));
  EXPECT_TRUE(failures.whole(task(7), whole(kClose, 1, 2, 7, -9), {}, out_));
  CallLines slow({.min_duration_ns = 1'000'000}, texts_);
  EXPECT_FALSE(slow.whole(task(7), whole(kClose, 1, 1'000'000, 7, 0), {}, out_));
  EXPECT_TRUE(slow.whole(task(7), whole(kClose, 1, 1'000'001, 7, 0), {}, out_));
  EXPECT_FALSE(slow.leave(task(8), exit(kClose, 5'000'000, 8, 0), {}, out_));
}

TEST_F(CallLinesTest, AThreadThatDiesInACallShowsIt) {
  CallLines lines({}, texts_);
  lines.set_base(0);
  lines.enter(task(7), entry(kRead, 1'000'000, 7), out_);
  lines.forget(task(7), out_);
  EXPECT_EQ(plain(out_), "     1.000 (         ): cat/7 read() ...\n");
  lines.interrupt(out_);
  EXPECT_EQ(lines.lines_made(), 1U);
}

TEST(MsText, IsRoundedAsPrintfDoes) {
  for (uint64_t ns : {0ULL, 499ULL, 500ULL, 501ULL, 1500ULL, 2500ULL, 999'499ULL, 999'500ULL,
                      123'456'789'500ULL, 18'000'000'000'000'000ULL}) {
    std::string text;
    append_ms(ns, 10, text);
    EXPECT_EQ(text, fmt::format("{:10.3f}", static_cast<double>(ns) / 1e6)) << ns;
  }
}

}  // namespace
}  // namespace sonde
