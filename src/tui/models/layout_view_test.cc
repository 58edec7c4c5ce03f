#include "tui/models/layout_view.h"

#include <gtest/gtest.h>

namespace sonde::tui {
namespace {

using RowKind = view::DataLayoutRow::Kind;

/// struct outer { long key; struct hit { int a; int b; } x; struct cold { int c; } y; }
view::DataLayout outer() {
  view::DataLayout layout;
  layout.type = "struct outer";
  layout.events = {"cycles"};
  layout.totals = {{10, 10}};
  auto add = [&](RowKind kind, uint32_t depth, const char* name, uint64_t period) {
    layout.rows.push_back({.kind = kind, .depth = depth, .type = "type", .name = name});
    layout.hits.push_back({period, period});
  };
  add(RowKind::kOpens, 0, "outer", 10);
  add(RowKind::kMember, 1, "key", 3);
  add(RowKind::kOpens, 1, "x", 7);
  add(RowKind::kMember, 2, "a", 2);
  add(RowKind::kMember, 2, "b", 5);
  add(RowKind::kCloses, 1, "", 0);
  add(RowKind::kOpens, 1, "y", 0);
  add(RowKind::kMember, 2, "c", 0);
  add(RowKind::kCloses, 1, "", 0);
  add(RowKind::kCloses, 0, "", 0);
  return layout;
}

TEST(LayoutView, StructuresThatWereHitAreOpen) {
  view::DataLayout layout = outer();
  LayoutView view(layout);
  EXPECT_EQ(view.lines(), (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 9}));
}

TEST(LayoutView, FoldsAndUnfolds) {
  view::DataLayout layout = outer();
  LayoutView view(layout);
  view.set_height(20);
  view.to(6);
  EXPECT_TRUE(view.toggle());
  EXPECT_EQ(view.lines().size(), layout.rows.size());
  view.to(1);
  EXPECT_FALSE(view.toggle());
  view.to(2);
  EXPECT_TRUE(view.toggle());
  EXPECT_EQ(view.lines(), (std::vector<size_t>{0, 1, 2, 6, 7, 8, 9}));
  view.to(0);
  EXPECT_TRUE(view.toggle());
  EXPECT_EQ(view.lines(), (std::vector<size_t>{0}));
}

TEST(LayoutView, FoldingAllKeepsTheCursorOnWhatIsAround) {
  view::DataLayout layout = outer();
  LayoutView view(layout);
  view.set_height(20);
  view.to(4);  // b
  view.open_all(false);
  EXPECT_EQ(view.lines(), (std::vector<size_t>{0, 1, 2, 6, 9}));
  EXPECT_EQ(view.lines()[view.cursor()], 2u);
  view.open_all(true);
  EXPECT_EQ(view.lines().size(), layout.rows.size());
}

TEST(LayoutView, GoesToTheHottestMembersAndOpensWhatIsAround) {
  view::DataLayout layout = outer();
  LayoutView view(layout);
  view.set_height(3);
  view.open_all(false);
  EXPECT_TRUE(view.to_hot(1));
  EXPECT_EQ(view.lines()[view.cursor()], 4u);  // b
  EXPECT_LE(view.top(), view.cursor());
  EXPECT_LT(view.cursor(), view.top() + 3);
  EXPECT_TRUE(view.to_hot(1));
  EXPECT_EQ(view.lines()[view.cursor()], 1u);  // key
  EXPECT_TRUE(view.to_hot(-1));
  EXPECT_EQ(view.lines()[view.cursor()], 4u);
}

TEST(LayoutView, MovesInsideOfWhatThereIs) {
  view::DataLayout layout = outer();
  LayoutView view(layout);
  view.set_height(4);
  view.move(-3);
  EXPECT_EQ(view.cursor(), 0u);
  view.move(100);
  EXPECT_EQ(view.cursor(), view.lines().size() - 1);
  EXPECT_EQ(view.top(), view.lines().size() - 4);
  view.page(-1);
  EXPECT_EQ(view.cursor(), view.lines().size() - 4);
}

}  // namespace
}  // namespace sonde::tui
