#include "stacks/alike_paths.h"

#include <gtest/gtest.h>

#include <numeric>

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

/// Many short inputs that differ in a few bits: what a seed makes equal.
TEST(AlikePaths, ShortPathsOfManyGroupsStayApart) {
  constexpr uint32_t kKeys = 8, kLength = 4, kGroups = 8;
  std::vector<uint32_t> key_of_step(kKeys);
  std::iota(key_of_step.begin(), key_of_step.end(), 0u);
  std::vector<std::vector<FrameId>> paths;
  for (uint32_t number = 0; number < kKeys * kKeys * kKeys * kKeys; ++number)
    paths.push_back({FrameId(number % kKeys), FrameId(number / kKeys % kKeys),
                     FrameId(number / kKeys / kKeys % kKeys),
                     FrameId(number / kKeys / kKeys / kKeys)});
  for (uint32_t length = 1; length <= kLength; ++length) {
    LargeVector<PathUse> uses;
    size_t different = kGroups;
    for (uint32_t i = 0; i < length; ++i) different *= kKeys;
    for (uint32_t group = 0; group < kGroups; ++group)
      for (const std::vector<FrameId>& path : paths) {
        PathUse made = use(path, group, 1);
        made.length = length;
        uses.push_back(made);
      }
    (void)join_alike_paths(uses, key_of_step);
    EXPECT_EQ(uses.size(), different) << length;
  }
}

}  // namespace
}  // namespace sonde
