#include "render/call_tree_text.h"

#include <gtest/gtest.h>

namespace sonde::render {
namespace {

using view::CallTree;

uint32_t node(CallTree& tree, uint64_t cumulative, uint64_t self,
              std::vector<std::string_view> labels, std::vector<uint32_t> children = {}) {
  tree.nodes.push_back(
      {cumulative, self, cumulative, self, std::move(labels), std::move(children)});
  return static_cast<uint32_t>(tree.nodes.size() - 1);
}

std::string drawn(const CallTree& tree, view::GraphOptions graph, bool color = false) {
  StringSink out;
  write_call_tree(out, tree, {.graph = graph, .color = color, .folded_separator = ";"});
  return out.text();
}

/// main → work (60) → read 40, main → idle 40; the row's weight is their sum, the table's twice as
/// much.
CallTree sample_tree() {
  CallTree tree;
  uint32_t read = node(tree, 40, 40, {"read"});
  uint32_t work = node(tree, 60, 20, {"work"}, {read});
  uint32_t idle = node(tree, 40, 40, {"idle", "sleep"});
  tree.top = {node(tree, 100, 0, {"main"}, {work, idle})};
  tree.row_weight = 100;
  tree.total_weight = 200;
  return tree;
}

constexpr view::GraphOptions kGraph{.style = view::GraphStyle::kAbsolute};

TEST(CallTreeText, GraphDrawsATrunkAndBranches) {
  EXPECT_EQ(drawn(sample_tree(), kGraph),
            "            |\n"
            "            ---main\n"
            "               |          \n"
            "               |--30.00%--work\n"
            "               |          |          \n"
            "               |           --20.00%--read\n"
            "               |          \n"
            "                --20.00%--idle\n"
            "                          sleep\n"
            "\n");
}

TEST(CallTreeText, WithoutACommonPathThereIsNoTrunk) {
  CallTree tree = sample_tree();
  tree.row_weight = 120;
  EXPECT_EQ(drawn(tree, kGraph).substr(0, 62),
            "            |          \n"
            "             --50.00%--main\n"
            "          ");
}

TEST(CallTreeText, SkipsTheLabelThatRepeatsTheRow) {
  CallTree tree = sample_tree();
  view::GraphOptions graph = kGraph;
  graph.skip_first = true;
  EXPECT_EQ(drawn(tree, graph).substr(0, 24), "            |          \n");
}

TEST(CallTreeText, FractalIsRelativeToTheParentAndSaysTheRest) {
  CallTree tree = sample_tree();
  tree.nodes[tree.top[0]].children.pop_back();  // below the threshold
  view::GraphOptions graph{.style = view::GraphStyle::kRelative};
  EXPECT_EQ(drawn(tree, graph),
            "            |\n"
            "            ---main\n"
            "               |          \n"
            "               |--60.00%--work\n"
            "               |          |          \n"
            "               |           --100.00%--read\n"
            "                --40.00%--[...]\n"
            "\n");
}

TEST(CallTreeText, FlatListsPathsByWeight) {
  EXPECT_EQ(drawn(sample_tree(), {.style = view::GraphStyle::kFlat, .limit = 1}),
            "           20.00%\n"
            "                main\n"
            "                work\n"
            "                read\n"
            "\n");
}

TEST(CallTreeText, FoldedIsOnePathPerLine) {
  EXPECT_EQ(drawn(sample_tree(),
                  {.style = view::GraphStyle::kFolded, .value = view::GraphValue::kPeriod}),
            "40 main;work;read\n"
            "40 main;idle;sleep\n"
            "20 main;work\n");
}

TEST(CallTreeText, AnEmptyTreeWritesNothing) {
  EXPECT_EQ(drawn({}, kGraph), "");
}

TEST(CallTreeText, PercentagesHaveColours) {
  EXPECT_NE(drawn(sample_tree(), kGraph, true).find("--\033[31m30.00%\033[m--work"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde::render
