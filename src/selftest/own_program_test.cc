#include "selftest/own_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"

namespace sonde::selftest {
namespace {

// The own program is this one.
TEST(OwnProgram, DISABLED_Waits) {
  ::write(1, "waiting\n", 8);
  ::sleep(600);
}

TEST(OwnProgram, WhatItSaysAndItsStatus) {
  auto finished = run_own({"--gtest_list_tests", "--gtest_filter=OwnProgram.*"}, "/");
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->status, 0);
  EXPECT_NE(finished->out.find("OwnProgram."), std::string::npos);
}

TEST(OwnProgram, OneThatHangsIsEnded) {
  uint64_t start_ns = monotonic_ns();
  auto finished =
      run_own({"--gtest_also_run_disabled_tests", "--gtest_filter=OwnProgram.DISABLED_Waits"}, "/",
              std::chrono::milliseconds(300));
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message.find("did not end within 300ms"), std::string::npos)
      << finished.error().message;
  EXPECT_LT(monotonic_ns() - start_ns, uint64_t{60} * 1'000'000'000);
}

}  // namespace
}  // namespace sonde::selftest
