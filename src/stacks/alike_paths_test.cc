#include "stacks/alike_paths.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

PathUse use(const std::vector<FrameId>& steps, uint32_t group, uint64_t period) {
  return {.steps = steps.data(),
          .length = static_cast<uint32_t>(steps.size()),
          .group = group,
          .own = 0,
          .period = period};
}

TEST(AlikePaths, StepsThatShowTheSameAreTheSame) {
  const std::vector<uint32_t> key_of_step = {7, 7, 8};  // two places in one function
  const std::vector<FrameId> first = {FrameId(0), FrameId(2)}, second = {FrameId(1), FrameId(2)},
                             longer = {FrameId(0), FrameId(2), FrameId(2)}, none;
  LargeVector<PathUse> uses;
  for (const PathUse& each : {use(first, 0, 1), use(second, 0, 2), use(first, 1, 4),
                              use(longer, 0, 8), use(none, 0, 16), use(none, 0, 32)})
    uses.push_back(each);
  LargeVector<uint32_t> path_of_use = join_alike_paths(uses, key_of_step);
  EXPECT_EQ(std::vector<uint32_t>(path_of_use.begin(), path_of_use.end()),
            (std::vector<uint32_t>{0, 0, 1, 2, 3, 3}));
  std::vector<uint64_t> periods;
  for (const PathUse& path : uses) periods.push_back(path.period);
  EXPECT_EQ(periods, (std::vector<uint64_t>{3, 4, 8, 48}));
}

}  // namespace
}  // namespace sonde
