#include "render/table_text.h"

#include <gtest/gtest.h>

namespace sonde::render {
namespace {

using view::Column;
using view::Table;

Column column(std::string title, Column::Kind kind, size_t width) {
  Column made;
  made.title = std::move(title);
  made.kind = kind;
  made.width = width;
  return made;
}

Table sample_table() {
  Table table;
  table.columns = {column("Overhead", Column::Kind::kPercent, 8),
                   column("Command", Column::Kind::kText, 7),
                   column("Symbol", Column::Kind::kText, 8)};
  table.columns[1].cuts = true;
  auto add = [&](double percent, std::string_view comm, std::string_view symbol) {
    table.add_percent(percent);
    table.text_buffer() += comm;
    table.add_text();
    table.text_buffer() += symbol;
    table.add_text();
    table.end_row();
  };
  add(87.5, "ls", "[.] main");
  add(12.5, "perf-exec", "[k] a,b");
  return table;
}

std::string written(const Table& table, const TableTextOptions& options = {}) {
  StringSink out;
  write_table(out, table, options);
  return out.text();
}

TEST(TableText, ColumnsAreAlignedAndCut) {
  EXPECT_EQ(written(sample_table()),
            "# Overhead  Command  Symbol  \n"
            "# ........  .......  ........\n"
            "#\n"
            "    87.50%  ls       [.] main\n"
            "    12.50%  perf-ex  [k] a,b\n");
}

TEST(TableText, WithASeparatorValuesCannotContainIt) {
  EXPECT_EQ(written(sample_table(), {.separator = ","}),
            "# Overhead,Command,Symbol  \n"
            " 87.50% ,ls     ,[.] main\n"
            " 12.50% ,perf-ex,[k] a.b\n");
}

TEST(TableText, TheUsersWidthsHold) {
  Table table = sample_table();
  table.columns[0].user_width = 5;
  table.columns[1].user_width = 3;
  EXPECT_EQ(written(table, {.header = false}),
            "   87.50%   ls   [.] main\n"
            "   12.50%   per  [k] a,b\n");
}

TEST(TableText, ColoursDontCountForTheAlignment) {
  std::string text = written(sample_table(), {.header = false, .color = true});
  EXPECT_EQ(text.substr(0, text.find("ls")), "  \033[31m  87.50%\033[m  ");
}

void add_numbered_rows(size_t first, size_t end, Table& table) {
  for (size_t row = first; row < end; ++row) {
    table.add_percent(static_cast<double>(row % 100));
    table.text_buffer() += fmt::format("row {}", row);
    table.add_text();
    table.end_row();
  }
}

// More rows than a page has, some of them with trees, made by several threads.
TEST(TableText, PagesMadeOnDemandReadLikeStoredRows) {
  constexpr size_t kRows = 5000;
  Table stored;
  stored.columns = {column("Overhead", Column::Kind::kPercent, 8),
                    column("Symbol", Column::Kind::kText, 8)};
  stored.graph.style = view::GraphStyle::kFlat;
  stored.has_large_trees = true;
  stored.tree = [](size_t row) {
    view::CallTree tree;
    if (row % 7 != 0) return tree;
    tree.row_weight = tree.total_weight = 1;
    view::CallTree::Node& node = tree.nodes.emplace_back();
    node.cumulative = node.self = node.count = node.self_count = 1;
    node.labels.push_back(tree.texts.emplace_back(fmt::format("called for {}", row)));
    tree.top.push_back(0);
    return tree;
  };
  Table paged = stored;
  add_numbered_rows(0, kRows, stored);
  paged.make_rows_by(kRows, add_numbered_rows);
  std::string text = written(paged);
  EXPECT_EQ(text, written(stored));
  size_t first = text.find("row 0\n"), last = text.find("row 4999\n");
  EXPECT_LT(first, text.find("called for 7\n"));
  EXPECT_LT(text.find("called for 4998\n"), last);
  ASSERT_NE(last, std::string::npos);
}

TEST(TableText, HierarchiesIndentByLevel) {
  Table table;
  table.columns = {column("Overhead", Column::Kind::kPercent, 8),
                   column("Command / Symbol", Column::Kind::kText, 16)};
  table.hierarchy_levels = 2;
  table.add_percent(100);
  table.text_buffer() += "ls";
  table.add_text();
  table.end_row();
  table.add_percent(100);
  table.text_buffer() += "[.] main";
  table.add_text();
  table.end_row();
  table.depth = {0, 1};
  EXPECT_EQ(written(table),
            "#    Overhead  Command / Symbol\n"
            "# ...........  ................\n"
            "#\n"
            "   100.00%     ls\n"
            "      100.00%     [.] main\n");
}

}  // namespace
}  // namespace sonde::render
