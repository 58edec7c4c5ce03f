#include "stacks/threads_over_time.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ThreadsOverTime, ANumberStandsForTheThreadOfItsLastSample) {
  StackProfile profile;
  profile.threads = {{.pid = 1, .tid = 10}, {.pid = 1, .tid = 10}, {.pid = 1, .tid = 11}};
  profile.threads.push_back({.pid = 2, .tid = 12});  // without samples
  uint64_t time_ns = 100;
  for (uint32_t thread : {0u, 2u, 1u, 1u, 0u}) {
    profile.samples.node.emplace_back();
    profile.samples.thread.push_back(thread);
    profile.samples.time_ns.push_back(time_ns);
    time_ns += 100;
  }
  ThreadsOverTime threads(profile);
  EXPECT_EQ(threads.at(10, 0), 0u) << "before its first";
  EXPECT_EQ(threads.at(10, 299), 0u);
  EXPECT_EQ(threads.at(10, 300), 1u);
  EXPECT_EQ(threads.at(10, 499), 1u);
  EXPECT_EQ(threads.at(10, 500), 0u) << "the first name again";
  EXPECT_EQ(threads.at(11, 900), 2u);
  EXPECT_EQ(threads.at(12, 900), 3u);
  EXPECT_FALSE(threads.at(13, 900).has_value());
}

}  // namespace
}  // namespace sonde
