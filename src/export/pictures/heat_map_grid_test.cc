#include "export/pictures/heat_map_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(HeatMapGrid, RowsAndColumnsHoldTheirLowerEdgesAndTheLastRowBoth) {
  std::vector<HeatPoint> points = {{100, 0}, {100.9, 9.9}, {101, 10}, {101.5, 20}, {103, 5}};
  auto map = make_heat_map(points, {.step_s = 1, .value_step = 10});
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->x_start, 100);
  EXPECT_EQ(map->columns, 4u);
  EXPECT_THAT(map->row_edges, ElementsAre(0, 10, 20));
  EXPECT_THAT(map->counts, ElementsAre(2, 0, 0, 2, 0, 0, 1, 0));
  EXPECT_EQ(map->inside, 5u);
}

TEST(HeatMapGrid, WhatLiesOutsideIsCounted) {
  std::vector<HeatPoint> points = {{0, 1}, {0, 5}, {0, 50}, {9, 5}};
  auto map = make_heat_map(
      points, {.step_s = 1, .last_column = 3, .min_value = 2, .max_value = 10, .value_step = 4});
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->columns, 4u);
  EXPECT_EQ(map->inside, 1u);
  EXPECT_EQ(map->below, 1u);
  EXPECT_EQ(map->above, 1u);
  EXPECT_EQ(map->beyond, 1u);
}

TEST(HeatMapGrid, LogarithmicRowsHavePowersOfTenAsEdges) {
  std::vector<HeatPoint> points = {{0, 2}, {1, 30}, {1, 1000}};
  auto map = make_heat_map(points, {.scale = HeatScale::kLog, .rows = 10});
  ASSERT_TRUE(map.has_value());
  EXPECT_TRUE(map->is_log);
  EXPECT_THAT(map->row_edges, testing::Contains(DoubleNear(10, 1e-9)));
  EXPECT_LE(map->row_edges.front(), 2);
  EXPECT_NEAR(map->row_edges.back(), 1000, 1e-9);
  EXPECT_LE(map->rows(), 10u);
  EXPECT_EQ(map->inside, 3u);
}

TEST(HeatMapGrid, AutoIsLogarithmicForWideRangesOfPositiveValues) {
  auto is_log = [](double least, double most) {
    auto map = make_heat_map({{0, least}, {1, most}}, {.scale = HeatScale::kAuto});
    return map.has_value() && map->is_log;
  };
  EXPECT_TRUE(is_log(1, 100));
  EXPECT_FALSE(is_log(2, 100));
  EXPECT_FALSE(is_log(0, 100));
  EXPECT_FALSE(is_log(-5, 100));
}

TEST(HeatMapGrid, OneEventIsAPictureAndNoneIsAnError) {
  auto map = make_heat_map({{5, 7}}, {});
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->columns, 1u);
  EXPECT_EQ(map->inside, 1u);
  EXPECT_FALSE(make_heat_map({}, {}).has_value());
}

TEST(HeatMapGrid, TooManyCellsNameTheOption) {
  auto columns = make_heat_map({{0, 1}, {1e6, 1}}, {.step_s = 1});
  ASSERT_FALSE(columns.has_value());
  EXPECT_THAT(columns.error().message, HasSubstr("--unitstime"));
  auto rows = make_heat_map({{0, 1}, {1, 1e9}}, {.value_step = 1});
  ASSERT_FALSE(rows.has_value());
  EXPECT_THAT(rows.error().message, HasSubstr("--steplat"));
  EXPECT_FALSE(make_heat_map({{0, 1}}, {.step_s = 0}).has_value());
  EXPECT_FALSE(make_heat_map({{0, 1}}, {.min_value = 9}).has_value());
  EXPECT_FALSE(make_heat_map({{0, 1}}, {.scale = HeatScale::kLog, .min_value = 0}).has_value());
}

TEST(HeatMapGrid, SecondsAndOffsets) {
  constexpr uint64_t kSecond = 1'000'000'000;
  uint64_t first = 0;
  auto map = make_second_map({7 * kSecond + 999'999'999, 7 * kSecond, 9 * kSecond + kSecond / 2}, 4,
                             first);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(first, 7u);
  EXPECT_EQ(map->columns, 3u);
  EXPECT_THAT(map->counts, ElementsAre(1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0));
}

}  // namespace
}  // namespace sonde
