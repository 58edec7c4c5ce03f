#include "tui/models/table_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/table_text.h"
#include "tui/pages/table_painter.h"

namespace sonde::tui {
namespace {

using testing::ElementsAre;
using ColumnKind = view::Column::Kind;

void add_row(view::Table& table, double percent, std::string_view name) {
  table.add_percent(percent);
  table.text_buffer() += name;
  table.add_text();
  table.end_row();
}

view::Column column(std::string title, ColumnKind kind, size_t width) {
  view::Column made;
  made.title = std::move(title);
  made.kind = kind;
  made.width = width;
  return made;
}

view::Table flat_table() {
  view::Table table;
  table.columns.resize(2);
  table.columns[0] = column("Overhead", ColumnKind::kPercent, 8);
  table.columns[1] = column("Symbol", ColumnKind::kText, 10);
  add_row(table, 40, "malloc");
  add_row(table, 30, "free");
  add_row(table, 20, "Malloc_trim");
  add_row(table, 10, "main");
  return table;
}

/// Two levels: comm, symbol.
view::Table hierarchy() {
  view::Table table;
  table.columns.resize(2);
  table.columns[0] = column("Overhead", ColumnKind::kPercent, 8);
  table.columns[1] = column("Command / Symbol", ColumnKind::kText, 16);
  table.hierarchy_levels = 2;
  add_row(table, 60, "cc1");
  add_row(table, 50, "parse");
  add_row(table, 10, "lex");
  add_row(table, 40, "ld");
  add_row(table, 40, "link");
  table.depth = {0, 1, 1, 0, 1};
  return table;
}

/// main 100 → (work 70 → (read 50, write 20), idle 30), as a trunk with two branches.
view::CallTree call_tree() {
  view::CallTree tree;
  tree.row_weight = tree.total_weight = 100;
  auto add = [&](uint64_t weight, std::vector<std::string_view> labels,
                 std::vector<uint32_t> children) {
    tree.nodes.push_back({.cumulative = weight,
                          .count = weight,
                          .labels = std::move(labels),
                          .children = std::move(children)});
  };
  add(100, {"main"}, {1, 4});
  add(70, {"work", "helper"}, {2, 3});
  add(50, {"read"}, {});
  add(20, {"write"}, {});
  add(30, {"idle"}, {});
  tree.top = {0};
  return tree;
}

view::Table table_with_trees() {
  view::Table table = flat_table();
  table.graph.style = view::GraphStyle::kAbsolute;
  table.tree = [](size_t row) { return row == 3 ? view::CallTree() : call_tree(); };
  return table;
}

TextMatch piece(std::string text) {
  return *TextMatch::make(std::move(text), TextMatch::Kind::kPiece);
}
TextMatch regex(std::string text) {
  return *TextMatch::make(std::move(text), TextMatch::Kind::kRegex);
}

std::vector<std::string> tree_texts(const TreeLines& tree) {
  std::vector<std::string> texts;
  for (const TreeLine& line : tree.lines())
    texts.push_back(std::string(line.depth, ' ') + line.value + (line.value.empty() ? "" : " ") +
                    std::string(line.text));
  return texts;
}

TEST(TextMatch, SmallLettersMatchCapitalsUnlessThereIsOne) {
  EXPECT_TRUE(piece("mall").matches("Malloc_trim"));
  EXPECT_FALSE(piece("Mall").matches("malloc"));
  EXPECT_TRUE(regex("^m.*c$").matches("malloc"));
  EXPECT_FALSE(regex("^M.*c$").matches("malloc"));
  EXPECT_FALSE(TextMatch::make("(", TextMatch::Kind::kRegex));
  EXPECT_TRUE(TextMatch::make("(", TextMatch::Kind::kPiece));
}

TEST(TextMatch, AllPlacesAreFound) {
  EXPECT_THAT(piece("a").places("banana"),
              ElementsAre(std::pair(1ul, 2ul), std::pair(3ul, 4ul), std::pair(5ul, 6ul)));
  EXPECT_THAT(regex("x*").places("axxb"), ElementsAre(std::pair(1ul, 3ul)));
}

TEST(RowSelection, FilterNarrowsAndWidens) {
  view::Table table = flat_table();
  RowSelection choice(table);
  choice.filter(piece("m"));
  EXPECT_THAT(choice.rows(), ElementsAre(0, 2, 3));
  choice.filter(piece("mall"));
  EXPECT_THAT(choice.rows(), ElementsAre(0, 2));
  EXPECT_EQ(choice.matches(), 2u);
  choice.filter(regex("^(free|main)$"));
  EXPECT_THAT(choice.rows(), ElementsAre(1, 3));
  choice.filter({});
  EXPECT_EQ(choice.rows().size(), 4u);
}

TEST(RowSelection, SortsByAnyColumn) {
  view::Table table = flat_table();
  RowSelection choice(table);
  choice.sort(RowSelection::Sorting{1, false});
  EXPECT_THAT(choice.rows(), ElementsAre(2, 1, 3, 0));
  choice.sort(RowSelection::Sorting{0, true});
  EXPECT_THAT(choice.rows(), ElementsAre(3, 2, 1, 0));
  choice.sort(std::nullopt);
  EXPECT_THAT(choice.rows(), ElementsAre(0, 1, 2, 3));
}

TEST(RowSelection, HierarchiesOpenByLevelAndKeepThemTogether) {
  view::Table table = hierarchy();
  RowSelection choice(table);
  EXPECT_THAT(choice.rows(), ElementsAre(0, 3));
  choice.set_open(0, true);
  EXPECT_THAT(choice.rows(), ElementsAre(0, 1, 2, 3));
  choice.sort(RowSelection::Sorting{0, true});
  EXPECT_THAT(choice.rows(), ElementsAre(3, 0, 2, 1));
  choice.sort(std::nullopt);
  choice.filter(piece("lex"));  // with its ancestors
  EXPECT_THAT(choice.rows(), ElementsAre(0, 2));
  EXPECT_EQ(choice.matches(), 1u);
  choice.filter(piece("ld"));  // with its descendants
  choice.set_all_open(true);
  EXPECT_THAT(choice.rows(), ElementsAre(3, 4));
}

TEST(TreeLines, OpensLevelByLevel) {
  TreeLines tree(call_tree(), {.style = view::GraphStyle::kAbsolute});
  EXPECT_THAT(tree_texts(tree), ElementsAre("main", " 70.00% work", " 30.00% idle"));
  tree.toggle(1);
  EXPECT_THAT(tree_texts(tree), ElementsAre("main", " 70.00% work", " helper", "  50.00% read",
                                            "  20.00% write", " 30.00% idle"));
  tree.toggle(2);  // any line of the chain
  EXPECT_EQ(tree.lines().size(), 3u);
  tree.toggle(2);  // nothing to unfold
  EXPECT_EQ(tree.lines().size(), 3u);
}

TEST(TreeLines, SharesOfTheParentWhereTheStyleSaysSo) {
  TreeLines tree(call_tree(), {.style = view::GraphStyle::kRelative});
  tree.open_all(true);
  EXPECT_THAT(tree_texts(tree), ElementsAre("main", " 70.00% work", " helper", "  71.43% read",
                                            "  28.57% write", " 30.00% idle"));
}

TEST(TreeLines, HottestCallsAreFollowedToTheirEnd) {
  TreeLines tree(call_tree(), {.style = view::GraphStyle::kAbsolute});
  size_t line = tree.open_hottest();
  EXPECT_EQ(tree.lines()[line].text, "read");
}

TEST(TableView, CursorGoesThroughRowsAndTrees) {
  view::Table table = table_with_trees();
  TableView view(table);
  view.set_height(4);
  EXPECT_TRUE(view.toggle());
  view.move(1);
  EXPECT_EQ(view.tree_line(view.cursor())->text, "main");
  view.move(3);
  EXPECT_EQ(view.cursor(), (TableView::Place{1, 0}));
  EXPECT_EQ(view.visible().front(), (TableView::Place{0, 1}));  // it scrolled by one
  view.move(-100);
  EXPECT_EQ(view.cursor(), (TableView::Place{0, 0}));
  view.to_last();
  EXPECT_EQ(view.row_at(view.cursor()), 3u);
  EXPECT_FALSE(view.toggle());  // has no tree
  EXPECT_EQ(view.visible().size(), 4u);
}

TEST(TableView, EverythingOpensAndFolds) {
  view::Table table = table_with_trees();
  TableView view(table);
  view.open_all(true);
  TableView::Place place;
  size_t lines = 1;
  while (view.next(place)) ++lines;
  EXPECT_EQ(lines, 4u + 3 * 6);
  view.open_all(false);
  place = {};
  for (lines = 1; view.next(place); ++lines) {
  }
  EXPECT_EQ(lines, 4u);
}

TEST(TableView, TheCursorStaysOnItsRow) {
  view::Table table = flat_table();
  TableView view(table);
  view.move(2);
  view.filter(piece("mall"));
  EXPECT_EQ(view.row_at(view.cursor()), 2u);
  view.filter({});
  EXPECT_EQ(view.row_at(view.cursor()), 2u);
  view.filter(piece("free"));
  EXPECT_EQ(view.row_at(view.cursor()), 1u);
  view.filter(piece("nothing"));
  EXPECT_TRUE(view.empty());
  view.move(1);
  EXPECT_TRUE(view.visible().empty());
  EXPECT_FALSE(view.toggle());
}

TEST(TableView, SearchGoesAroundTheEnd) {
  view::Table table = flat_table();
  TableView view(table);
  EXPECT_TRUE(view.search(piece("mall"), 1));
  EXPECT_EQ(view.row_at(view.cursor()), 2u);
  EXPECT_TRUE(view.search(piece("mall"), 1));
  EXPECT_EQ(view.row_at(view.cursor()), 0u);
  EXPECT_TRUE(view.search(piece("mall"), -1));
  EXPECT_EQ(view.row_at(view.cursor()), 2u);
  EXPECT_FALSE(view.search(piece("nothing"), 1));
}

TEST(TablePainter, RowsAreThoseOfTheText) {
  view::Table table = table_with_trees();
  TableView view(table);
  view.toggle();
  Theme theme = Theme::of(ColorDepth::kNone);
  TablePainter painter(theme);
  Grid grid(7, 40);
  painter.draw(grid, 0, 7, view, 0);
  EXPECT_EQ(grid.row_text(0), "  Overhead  Symbol");
  EXPECT_EQ(grid.row_text(1), "-   40.00%  malloc");
  EXPECT_EQ(grid.row_text(2), "    - main");
  EXPECT_EQ(grid.row_text(3), "      + 70.00% work");
  EXPECT_EQ(grid.row_text(4), "        30.00% idle");
  EXPECT_EQ(grid.row_text(5), "+   30.00%  free");
  Grid shifted(7, 40);
  painter.draw(shifted, 0, 7, view, 5);
  EXPECT_EQ(shifted.row_text(1), "0.00%  malloc");
}

TEST(TablePainter, WideNamesKeepTheColumnsBehindThemInLine) {
  view::Table table;
  table.columns.resize(2);
  table.columns[0] = column("Command", ColumnKind::kText, 7);
  table.columns[1] = column("Symbol", ColumnKind::kText, 6);
  for (std::string_view name : {"\xe6\xbc\xa2", "abc"}) {
    table.text_buffer() += name;
    table.add_text();
    table.text_buffer() += "main";
    table.add_text();
    table.end_row();
  }
  TableView view(table);
  Theme theme = Theme::of(ColorDepth::kNone);
  TablePainter painter(theme);
  Grid grid(3, 20);
  painter.draw(grid, 0, 3, view, 0);
  EXPECT_EQ(grid.at(1, 11).character, U'm');
  EXPECT_EQ(grid.at(2, 11).character, U'm');
}

TEST(TableView, RemarksOfAHierarchyStandWhereRowsWouldBe) {
  view::Table table;
  table.columns = hierarchy().columns;
  table.hierarchy_levels = 2;
  add_row(table, 60, "cc1");
  add_row(table, 60, "parse");
  add_row(table, 1, "ld");
  table.depth = {0, 1, 0};
  table.notes = {{2, "no entry >= 5.00%"}};
  TableView view(table);
  view.to({1, 0});
  EXPECT_TRUE(view.has_inside(1));
  EXPECT_FALSE(view.is_open(1));
  EXPECT_TRUE(view.toggle());
  view.move(1);
  EXPECT_EQ(view.cursor(), (TableView::Place{1, 1}));
  EXPECT_EQ(view.note(view.cursor()), "no entry >= 5.00%");
  EXPECT_THAT(TablePainter::line_text(view, view.cursor()),
              testing::EndsWith(" no entry >= 5.00%"));
  EXPECT_TRUE(view.toggle());
  EXPECT_EQ(view.cursor(), (TableView::Place{1, 0}));
  view.open_all(true);
  EXPECT_EQ(view.note({2, 1}), "no entry >= 5.00%");
}

// --- live data ---

TEST(TableView, AnotherTableIsEnteredAtTheSameRow) {
  view::Table before = flat_table();
  TableView view(before);
  view.set_height(3);
  view.move(2);  // Malloc_trim
  auto standing = view.leave();
  view::Table after;
  after.columns = before.columns;
  for (auto [percent, name] : {std::pair(50.0, "new"), {30.0, "main"}, {15.0, "Malloc_trim"}})
    add_row(after, percent, name);
  view.show(after, standing);
  EXPECT_EQ(view.cursor(), (TableView::Place{2, 0}));
  // A cursor on the first row stays there; one whose row is gone starts over.
  view.to_first();
  standing = view.leave();
  view.show(before, standing);
  EXPECT_EQ(view.cursor(), TableView::Place{});
  view.to({1, 0});  // free
  standing = view.leave();
  view.show(after, standing);
  EXPECT_EQ(view.cursor(), TableView::Place{});
}

TEST(TableView, FilterAndOrderStayInAnotherTable) {
  view::Table before = flat_table(), after = flat_table();
  add_row(after, 90, "calloc");
  TableView view(before);
  view.filter(*TextMatch::make("alloc", TextMatch::Kind::kPiece));
  view.sort(RowSelection::Sorting{.column = 1});
  view.show(after, view.leave());
  EXPECT_THAT(view.choice().rows(), ElementsAre(2, 4, 0));
  view.limit(2);
  EXPECT_EQ(view.choice().rows().size(), 2u);
}

TEST(TableView, WhatIsUnfoldedStaysSoInAnotherTable) {
  view::Table before = table_with_trees(), after = table_with_trees();
  TableView view(before);
  view.toggle();  // malloc's tree
  view.move(2);   // work
  std::string call(view.tree_line(view.cursor())->text);
  view.toggle();
  size_t lines = 1;
  for (TableView::Place place; view.next(place) && place.row == 0;) ++lines;
  auto standing = view.leave();
  view::Table without;
  without.columns = before.columns;
  add_row(without, 1, "other");
  view.show(without, standing);
  EXPECT_EQ(view.cursor(), TableView::Place{});
  view.show(after, standing);
  EXPECT_TRUE(view.is_open(0));
  size_t shown = 1;
  for (TableView::Place place; view.next(place) && place.row == 0;) ++shown;
  EXPECT_EQ(shown, lines);
  EXPECT_EQ(view.tree_line(view.cursor())->text, call);
}

TEST(TableView, LevelsOfAHierarchyStayOpenInAnotherTable) {
  view::Table before = hierarchy(), after;
  after.columns = before.columns;
  after.hierarchy_levels = 2;
  add_row(after, 60, "ld");
  add_row(after, 60, "link");
  add_row(after, 40, "cc1");
  add_row(after, 40, "parse");
  after.depth = {0, 1, 0, 1};
  TableView view(before);
  view.toggle();  // cc1
  view.move(1);   // parse
  view.show(after, view.leave());
  EXPECT_THAT(view.choice().rows(), ElementsAre(0, 2, 3));
  EXPECT_EQ(view.row_at(view.cursor()), 3u);
}

}  // namespace
}  // namespace sonde::tui
