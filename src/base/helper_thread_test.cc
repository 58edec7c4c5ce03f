#include "base/helper_thread.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <vector>

#include "base/parallel.h"

namespace sonde {
namespace {

TEST(HelperThread, StartsOnAnotherCpuAndMayRunOnAll) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  cpu_set_t found{};
  bool has_run = false;
  {
    HelperThread helper([&] {
      has_run = true;
      ::sched_getaffinity(0, sizeof found, &found);
    });
  }
  EXPECT_TRUE(has_run);
  EXPECT_NE(CPU_EQUAL(&found, &allowed), 0);
}

TEST(HelperThread, RunsWhereOneCpuIsAllowed) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  cpu_set_t found{};
  {
    HelperThread helper([&] { ::sched_getaffinity(0, sizeof found, &found); });
  }
  EXPECT_NE(CPU_EQUAL(&found, &one), 0);
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

TEST(ParallelJobs, EachRunsOnce) {
  std::vector<std::atomic<int>> runs(1000);
  parallel_jobs(runs.size(), [&](size_t i) { ++runs[i]; });
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
  parallel_jobs(0, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace sonde
