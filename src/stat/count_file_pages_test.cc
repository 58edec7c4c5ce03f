#include "stat/count_file_pages.h"

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
Result<std::string> csv(std::string_view text, std::optional<CountGrouping> grouping) {
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

}  // namespace
}  // namespace sonde
