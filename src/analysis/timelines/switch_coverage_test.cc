#include "analysis/timelines/switch_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sys.h"
#include "perfdata/text/format.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kEvent =
    R"(event : name = sched:sched_switch, id = { 7 }, type = 2, { sample_period, sample_freq } = 1, \
  sample_type = IP|TID|TIME|CPU|IDENTIFIER, sample_id_all = 1
)";
constexpr std::string_view kSample =
    "SAMPLE id=7 mode=kernel ip=0x1000 pid=1 tid=1 time=1000 cpu=0\n";
constexpr std::string_view kAnyThread = "THREAD_MAP tids=0xffffffffffffffff\n";

Result<SwitchCoverage> coverage_of(const std::string& more) {
  std::vector<std::byte> bytes =
      assemble(std::string(kEvent) + more + std::string(kSample)).value();
  Fd memory(::memfd_create("recording", MFD_CLOEXEC));
  EXPECT_TRUE(write_all(memory.get(), "memory", bytes));
  ::lseek(memory.get(), 0, SEEK_SET);
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  SessionOptions how;
  how.open.stdin_fd = memory.get();
  Session session = TRY(Session::open("-", how, env));
  return switch_coverage(session);
}

std::string online(int cpus) {
  return fmt::format("# nrcpus online : {0}\n# nrcpus avail : {0}\n", cpus);
}

TEST(SwitchCoverage, IsWhatTheRecorderSays) {
  EXPECT_EQ(coverage_of("")->kind, SwitchCoverage::Kind::kUnknown);
  std::string any(kAnyThread);
  SwitchCoverage all = coverage_of(online(2) + any + "CPU_MAP cpus=0,1\n").value();
  EXPECT_EQ(all.kind, SwitchCoverage::Kind::kEveryCpu);
  EXPECT_EQ(all.partial, "");
  SwitchCoverage one = coverage_of(online(4) + any + "CPU_MAP cpus=0\n").value();
  EXPECT_EQ(one.kind, SwitchCoverage::Kind::kSomeCpus);
  EXPECT_EQ(one.partial, "only CPU 0 of 4 was recorded");
  SwitchCoverage some = coverage_of(online(8) + any + "CPU_MAP cpus=0,1,3\n").value();
  EXPECT_EQ(some.kind, SwitchCoverage::Kind::kSomeCpus);
  EXPECT_EQ(some.partial, "only CPUs 0-1,3 of 8 were recorded");
}

TEST(SwitchCoverage, EventsOfSomeTasksAreRefused) {
  Result<SwitchCoverage> of_task =
      coverage_of(online(2) + "THREAD_MAP tids=42\nCPU_MAP cpus=0,1\n");
  ASSERT_FALSE(of_task);
  EXPECT_THAT(of_task.error().message, HasSubstr("of some tasks only"));
  EXPECT_THAT(of_task.error().message, HasSubstr("sched:sched_waking -a"));
}

TEST(SwitchCoverage, KnowsWhereEventsWereDropped) {
  SwitchCoverage coverage = coverage_of(
                                "LOST id=7 lost=5 time=3000 cpu=1 event=0\n"
                                "LOST id=7 lost=5 time=2000 cpu=0 event=0\n")
                                .value();
  ASSERT_EQ(coverage.losses.size(), 2u);
  EXPECT_EQ(coverage.losses[0].time_ns, 2000u);
  EXPECT_EQ(coverage.losses[0].cpu, 0u);
  EXPECT_EQ(coverage.losses[1].time_ns, 3000u);
  EXPECT_EQ(coverage.losses[1].cpu, 1u);
}

TEST(SwitchCoverage, EventsThatWereNotRecordedEachTimeAreRefused) {
  EventDesc event;
  event.name = "sched:sched_switch";
  event.attr.sample_period = 1;
  EXPECT_TRUE(need_each_time("x.data", event));
  event.attr.sample_period = 100;
  Result<> every_100th = need_each_time("x.data", event);
  ASSERT_FALSE(every_100th);
  EXPECT_THAT(every_100th.error().message,
              HasSubstr("x.data: only one in 100 of sched:sched_switch was recorded"));
  event.attr.freq = 1;
  Result<> sampled = need_each_time("x.data", event);
  ASSERT_FALSE(sampled);
  EXPECT_THAT(sampled.error().message, HasSubstr("was sampled (-F 100)"));
  event.attr.freq = 0;
  event.attr.sample_period = 1;
  event.attr.enable_on_exec = 1;
  EXPECT_FALSE(need_each_time("x.data", event)) << "a command's";
}

TEST(SwitchCoverage, MostSwitchesMustFollowFromTheOneBefore) {
  EXPECT_TRUE(need_most_to_follow("x.data", 0, 0));
  EXPECT_TRUE(need_most_to_follow("x.data", 1, 2));
  Result<> filtered = need_most_to_follow("x.data", 2, 3);
  ASSERT_FALSE(filtered);
  EXPECT_THAT(filtered.error().message, HasSubstr("2 of 3 switches do not follow"));
}

}  // namespace
}  // namespace sonde
