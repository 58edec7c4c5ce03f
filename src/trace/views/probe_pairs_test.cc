#include "trace/views/probe_pairs.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr size_t kEntry = 0, kOther = 1, kReturn = 2;

ProbePairs three() {
  return ProbePairs({"probe_app:work", "sched:sched_switch", "probe_app:work__return"});
}

TEST(ProbePairs, MeasuresACallOfAThread) {
  ProbePairs pairs = three();
  EXPECT_FALSE(pairs.empty());
  EXPECT_EQ(pairs.take(kEntry, 1, 100), std::nullopt);
  EXPECT_EQ(pairs.take(kOther, 1, 105), std::nullopt);
  EXPECT_EQ(pairs.take(kReturn, 2, 110), std::nullopt) << "its entry was not seen";
  EXPECT_EQ(pairs.take(kEntry, 2, 120), std::nullopt);
  EXPECT_EQ(pairs.take(kReturn, 1, 150), 50);
  EXPECT_EQ(pairs.take(kReturn, 2, 150), 30);
  EXPECT_EQ(pairs.take(kReturn, 2, 160), std::nullopt);
}

TEST(ProbePairs, MeasuresTheInnermostCallFirst) {
  ProbePairs pairs = three();
  for (uint64_t time : {100U, 200U, 300U}) EXPECT_EQ(pairs.take(kEntry, 1, time), std::nullopt);
  EXPECT_EQ(pairs.take(kReturn, 1, 310), 10);
  EXPECT_EQ(pairs.take(kReturn, 1, 410), 210);
  EXPECT_EQ(pairs.take(kReturn, 1, 510), 410);
}

TEST(ProbePairs, ForgetsAThread) {
  ProbePairs pairs = three();
  EXPECT_EQ(pairs.take(kEntry, 1, 100), std::nullopt);
  EXPECT_EQ(pairs.take(kEntry, 2, 100), std::nullopt);
  pairs.forget(1);
  EXPECT_EQ(pairs.take(kReturn, 1, 150), std::nullopt);
  EXPECT_EQ(pairs.take(kReturn, 2, 150), 50);
}

TEST(ProbePairs, ExpectsNoReturnsBelowTheKernelsLimit) {
  ProbePairs pairs = three();
  for (uint64_t depth = 0; depth < 100; ++depth)
    EXPECT_EQ(pairs.take(kEntry, 1, depth), std::nullopt);
  for (uint64_t depth = 64; depth-- > 0;) EXPECT_EQ(pairs.take(kReturn, 1, 1000), 1000 - depth);
  EXPECT_EQ(pairs.take(kReturn, 1, 1000), std::nullopt);
}

TEST(ProbePairs, NeedsBothHalves) {
  EXPECT_TRUE(ProbePairs({}).empty());
  EXPECT_TRUE(ProbePairs({"probe_app:work", "probe_other:work__return"}).empty());
  ProbePairs pairs({"probe_app:work__return"});
  EXPECT_TRUE(pairs.empty());
  EXPECT_EQ(pairs.take(0, 1, 100), std::nullopt);
}

}  // namespace
}  // namespace sonde
