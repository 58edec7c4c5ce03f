#include "stat/count_file_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/sys.h"
#include "perfdata/text/format.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using view::CountGrouping;

/// Two rounds of one event on two CPUs.
constexpr std::string_view kCounts = R"(feature CMDLINE: "perf" "stat" "record" "-a" "-I" "10"
feature STAT:
event : name = cs, id = { 1, 2 }, type = 1, config = 0x3, sample_type = IDENTIFIER, \
  read_format = TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING
THREAD_MAP tids=18446744073709551615
CPU_MAP cpus=0,1
STAT_CONFIG terms=0,1,1,10,2,1
STAT id=1 cpu=0 thread=0 value=5 enabled=10000000 running=10000000
STAT id=2 cpu=1 thread=0 value=7 enabled=10000000 running=10000000
STAT_ROUND type=0 time=10000123
STAT id=1 cpu=0 thread=0 value=6 enabled=20000000 running=20000000
STAT id=2 cpu=1 thread=0 value=17 enabled=20000000 running=20000000
STAT_ROUND type=0 time=20000456
)";

/// The counts as CSV on standard error, without a command line.
Result<std::string> csv(std::string_view text, std::optional<CountGrouping> grouping,
                        uint64_t expected_losses = 0) {
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  Fd memory(::memfd_create("counts", MFD_CLOEXEC));
  EXPECT_TRUE(write_all(memory.get(), "memory", assemble(text).value()));
  ::lseek(memory.get(), 0, SEEK_SET);
  Recording recording = TRY(Recording::open("-", OpenOptions{.stdin_fd = memory.get()}, losses));
  StatOptions options;
  options.separator = ",";
  StatOutput output = TRY(StatOutput::open(options, env, false));
  TRY(write_count_file(recording, options, grouping, env, output));
  EXPECT_EQ(losses.total(), expected_losses);
  return err.text();
}

TEST(CountFilePages, ARoundShowsWhatItAdded) {
  Result<std::string> text = csv(kCounts, CountGrouping::kAll);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("0.010000123,12,,cs,"));
  EXPECT_THAT(*text, HasSubstr("0.020000456,11,,cs,"));
}

TEST(CountFilePages, UnitsAddUpToTheWhole) {
  Result<std::string> text = csv(kCounts, CountGrouping::kCpu);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("0.020000456,CPU0,1,,cs,"));
  EXPECT_THAT(*text, HasSubstr("0.020000456,CPU1,10,,cs,"));
}

TEST(CountFilePages, AFileWithoutCountsIsRefused) {
  std::string_view events = kCounts.substr(0, kCounts.find("THREAD_MAP"));
  Result<std::string> text = csv(events, std::nullopt);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kCorrupt);
}

/// A file with one event, given as its name, type and config.
std::string file_of(std::string_view event, std::string_view own_cpus, std::string_view map,
                    std::string_view counts, std::string_view tids = "100") {
  std::string update = own_cpus.empty() ? "" : fmt::format("EVENT_UPDATE id=1 cpus={}\n", own_cpus);
  return fmt::format(
      "feature CMDLINE: \"perf\" \"stat\" \"record\" \"true\"\nfeature STAT:\n"
      "event : name = {}, id = {{ 1, 2 }}, sample_type = IDENTIFIER, "
      "read_format = TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING\n"
      "{}THREAD_MAP tids={}\nCPU_MAP cpus={}\nSTAT_CONFIG terms=0,1,1,0,2,1\n"
      "{}STAT_ROUND type=1 time=2000000000\n",
      event, update, tids, map, counts);
}

std::string stat_record(int id, uint32_t cpu, uint32_t thread, uint64_t value) {
  return fmt::format("STAT id={} cpu={} thread={} value={} enabled=100 running=100\n", id, cpu,
                     thread, value);
}

constexpr uint32_t kAnyCpu = UINT32_MAX;
constexpr std::string_view kSwitches = "cs, type = 1, config = 0x3";

/// Since 6.13, perf names the CPUs of nearly every event, of those that are counted for tasks, too.
TEST(CountFilePages, CountsOfTasksAreReadWhateverCpusTheirEventsHave) {
  std::string file =
      file_of(kSwitches, "0,1,2,3", "-1",
              stat_record(1, kAnyCpu, 0, 5) + stat_record(2, kAnyCpu, 1, 7), "100,101");
  Result<std::string> all = csv(file, std::nullopt);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(*all, HasSubstr("12,,cs,200,100.00,"));
  Result<std::string> by_thread = csv(file, CountGrouping::kThread);
  ASSERT_TRUE(by_thread) << by_thread.error().message;
  EXPECT_THAT(*by_thread, HasSubstr("-100,5,,cs,"));
  EXPECT_THAT(*by_thread, HasSubstr("-101,7,,cs,"));
}

TEST(CountFilePages, AnEventIsWhereItsCountsAre) {
  // -C 0,1 of a PMU with four CPUs; an event that only CPU 4 counts; perf's own times with -C.
  struct Case {
    std::string_view own, map;
    std::vector<uint32_t> cpus;
  };
  for (const Case& each : {Case{"0,1,2,3", "0,1", {0, 1}}, Case{"4", "0,1", {4}},
                           Case{"0", "1", {1}}, Case{"0", "0,1", {0, 1}}}) {
    std::string counts, expected;
    for (uint32_t cpu : each.cpus) counts += stat_record(1, cpu, 0, cpu + 5);
    Result<std::string> text =
        csv(file_of(kSwitches, each.own, each.map, counts), CountGrouping::kCpu);
    ASSERT_TRUE(text) << text.error().message;
    for (uint32_t cpu : each.cpus)
      EXPECT_THAT(*text, HasSubstr(fmt::format("CPU{},{},,cs,100,100.00,", cpu, cpu + 5)));
    EXPECT_EQ(std::ranges::count(*text, '\n'), static_cast<std::ptrdiff_t>(each.cpus.size()))
        << *text;
  }
}

TEST(CountFilePages, PerfBefore518CountsPlacesInTheMap) {
  Result<std::string> of_cpus =
      csv(file_of(kSwitches, "", "2,3", stat_record(1, 0, 0, 5) + stat_record(2, 1, 0, 7)),
          CountGrouping::kCpu);
  ASSERT_TRUE(of_cpus) << of_cpus.error().message;
  EXPECT_THAT(*of_cpus, HasSubstr("CPU2,5,,cs,"));
  EXPECT_THAT(*of_cpus, HasSubstr("CPU3,7,,cs,"));
  Result<std::string> of_tasks =
      csv(file_of(kSwitches, "", "-1", stat_record(1, 0, 0, 5)), std::nullopt);
  ASSERT_TRUE(of_tasks) << of_tasks.error().message;
  EXPECT_THAT(*of_tasks, HasSubstr("5,,cs,"));
}

TEST(CountFilePages, CountsOfAnUnknownPlaceAreLost) {
  std::string counts = stat_record(1, 0, 0, 5) + stat_record(1, 9, 0, 7) + stat_record(1, 1, 1, 8) +
                       stat_record(3, 0, 0, 9);
  Result<std::string> text = csv(file_of(kSwitches, "", "0,1", counts), CountGrouping::kAll, 3);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("5,,cs,"));
}

/// duration_time as perf has recorded it over the years.
TEST(CountFilePages, TheRecordersOwnTimesAreReadInEveryForm) {
  constexpr std::string_view kDummy = "duration_time, type = 1, config = 0x9";
  constexpr std::string_view kDummyOfUser = "duration_time:u, type = 1, config = 0x9";
  constexpr std::string_view kOfToolPmu = "duration_time, type = 4294967294, config = 0x1";
  constexpr std::string_view kTasks = "-1";
  struct Case {
    std::string_view event, own, map;
    std::vector<uint32_t> cpus;
  };
  for (const Case& each :
       {Case{kDummy, "0", kTasks, {kAnyCpu}}, Case{kDummy, "", kTasks, {kAnyCpu}},
        Case{kDummy, "0", kTasks, {0}}, Case{kDummy, "0", "0,1", {0}}, Case{kDummy, "0", "1", {1}},
        Case{kDummy, "", "0,1", {0, 1}}, Case{kDummyOfUser, "0", kTasks, {kAnyCpu}},
        Case{kOfToolPmu, "0,1", kTasks, {kAnyCpu}}, Case{kOfToolPmu, "0,1", "0,1", {0}}}) {
    std::string counts;
    for (uint32_t cpu : each.cpus) counts += stat_record(1, cpu, 0, 7186031);
    std::string file = file_of(each.event, each.own, each.map, counts);
    Result<std::string> text = csv(file, std::nullopt);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_THAT(*text, HasSubstr("7186031,ns,duration_time")) << file;
  }
}

TEST(CountFilePages, TheToolPmusTimesHaveTheirNumbers) {
  for (const auto& [config, unit] :
       {std::pair{1, "ns"}, std::pair{2, "ns"}, std::pair{3, "ns"}, std::pair{6, ""}}) {
    std::string event = fmt::format("tool/some/, type = 4294967294, config = {}", config);
    Result<std::string> text =
        csv(file_of(event, "", "-1", stat_record(1, kAnyCpu, 0, 8)), std::nullopt);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_THAT(*text, HasSubstr(fmt::format("8,{},tool/some/,", unit)));
  }
}

}  // namespace
}  // namespace sonde
