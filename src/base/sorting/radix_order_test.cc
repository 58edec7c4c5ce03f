#include "base/sorting/radix_order.h"

#include <gtest/gtest.h>

#include <random>

namespace sonde {
namespace {

/// The same by comparing.
std::vector<uint32_t> compared(const std::vector<uint64_t>& numbers) {
  std::vector<uint32_t> order = all_rows(numbers.size());
  std::ranges::stable_sort(order, {}, [&](uint32_t row) { return numbers[row]; });
  return order;
}

TEST(RadixOrder, IsThatOfAStableSort) {
  std::mt19937_64 random(1);
  for (size_t count : {0U, 1U, 2U, 100U, 2048U, 2049U, 50'000U}) {
    // Few distinct numbers, numbers that differ in some digits only, and any.
    for (uint64_t mask : {uint64_t{3}, uint64_t{0xff00ff0000}, uint64_t{1} << 63, UINT64_MAX}) {
      std::vector<uint64_t> numbers(count);
      for (uint64_t& number : numbers) number = (random() & mask) | 0x10;
      std::vector<uint32_t> order = all_rows(count);
      order_by(order, [&](uint32_t row) { return numbers[row]; });
      EXPECT_EQ(order, compared(numbers)) << count << ' ' << mask;
    }
  }
}

TEST(RadixOrder, TheLastNumberIsTheMostImportant) {
  std::vector<uint64_t> minor(5000), major(5000);
  for (size_t i = 0; i < minor.size(); ++i) {
    minor[i] = i * 7919 % 5000;
    major[i] = i % 3;
  }
  std::vector<uint32_t> order = all_rows(minor.size());
  order_by(order, [&](uint32_t row) { return minor[row]; });
  order_by(order, [&](uint32_t row) { return major[row]; });
  EXPECT_TRUE(std::ranges::is_sorted(
      order, {}, [&](uint32_t row) { return std::pair(major[row], minor[row]); }));
}

}  // namespace
}  // namespace sonde
