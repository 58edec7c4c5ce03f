#include "tui/models/flame_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tui/pages/flame_page.h"

namespace sonde::tui {
namespace {

/// all 100 → main 80 (work 60, rest 20), idle 20; and a box too narrow to be visible.
class SmallTree final : public FlameTree {
 public:
  [[nodiscard]] uint32_t root() const override { return 0; }
  [[nodiscard]] std::vector<uint32_t> children(uint32_t node) const override {
    if (node == 0) return {1, 2};
    if (node == 1) return {3, 4, 5};
    return {};
  }
  [[nodiscard]] std::string_view name(uint32_t node) const override {
    constexpr std::string_view kNames[] = {"all", "main", "idle", "work", "rest", "speck"};
    return kNames[node];
  }
  [[nodiscard]] uint64_t weight(uint32_t node) const override {
    constexpr uint64_t kWeights[] = {1000, 800, 200, 600, 199, 1};
    return kWeights[node];
  }
};

TEST(FlameView, BoxesAreAsWideAsTheirPart) {
  SmallTree tree;
  FlameView view(tree);
  const auto& boxes = view.layout(50);
  ASSERT_EQ(boxes.size(), 5u);  // without the narrow box
  EXPECT_EQ(boxes[1].to - boxes[1].from, 40u);
  EXPECT_EQ(tree.name(boxes[2].node), "work");
  EXPECT_EQ(boxes[2].to, 30u);
  EXPECT_EQ(boxes[3].from, 30u);
}

TEST(FlameView, MovingAndZooming) {
  SmallTree tree;
  FlameView view(tree);
  auto at_hand = [&] { return tree.name(view.layout(50)[view.cursor()].node); };
  EXPECT_EQ(at_hand(), "all");
  view.down();
  view.side(1);
  EXPECT_EQ(at_hand(), "idle");
  view.side(-1);
  EXPECT_EQ(at_hand(), "main");
  EXPECT_TRUE(view.zoom());
  EXPECT_EQ(view.layout(50)[0].to, 50u);
  EXPECT_EQ(at_hand(), "main");
  EXPECT_FALSE(view.zoom());
  view.down();
  EXPECT_EQ(at_hand(), "work");
  EXPECT_DOUBLE_EQ(view.percent(3), 60.0);
  view.up();
  EXPECT_TRUE(view.undo());
  EXPECT_FALSE(view.undo());
  EXPECT_EQ(at_hand(), "main");
}

TEST(FlamePage, IsDrawn) {
  Theme theme = Theme::of(ColorDepth::kNone);
  FlamePage page(theme, "title", std::make_unique<SmallTree>());
  Grid grid(6, 50);
  page.draw(grid);
  EXPECT_EQ(grid.row_text(1), "│all");
  EXPECT_THAT(grid.row_text(2), testing::MatchesRegex("│main +│idle"));
  EXPECT_THAT(grid.row_text(3), testing::MatchesRegex("│work +│rest"));
  EXPECT_THAT(grid.row_text(5), testing::StartsWith(" 100.00%  all"));
}

}  // namespace
}  // namespace sonde::tui
