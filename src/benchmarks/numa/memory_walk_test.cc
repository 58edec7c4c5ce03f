#include "benchmarks/numa/memory_walk.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace sonde {
namespace {

TEST(MemoryWalk, WritesEveryWordOnce) {
  std::vector<uint64_t> words(100, 7);
  EXPECT_EQ(MemoryWalk{}.pass(words), 800u);
  EXPECT_EQ(words, std::vector<uint64_t>(100, 8));
}

TEST(MemoryWalk, BackwardsAgain) {
  std::vector<uint64_t> words(10);
  EXPECT_EQ(MemoryWalk{.backwards = true}.pass(words), 160u);
  EXPECT_EQ(words, std::vector<uint64_t>(10, 2));
}

TEST(MemoryWalk, ReadsLeaveMemoryAlone) {
  std::vector<uint64_t> words(10, 3);
  EXPECT_EQ(MemoryWalk{.reads = true}.pass(words), 80u);
  EXPECT_EQ(words, std::vector<uint64_t>(10, 3));
}

TEST(MemoryWalk, RandomTouchesAsMany) {
  std::vector<uint64_t> words(50);
  EXPECT_EQ(MemoryWalk{.random = true}.pass(words), 400u);
  EXPECT_EQ(std::accumulate(words.begin(), words.end(), uint64_t{0}), 50u);
}

TEST(MemoryWalk, Clears) {
  std::vector<uint64_t> words(10, 3);
  EXPECT_EQ(MemoryWalk{.clears = true}.pass(words), 80u);
  EXPECT_EQ(words, std::vector<uint64_t>(10, 0));
  EXPECT_EQ(MemoryWalk{}.pass({}), 0u);
}

}  // namespace
}  // namespace sonde
