#include "render/data_layout_text.h"

#include <gtest/gtest.h>

namespace sonde::render {
namespace {

view::DataLayout layout_of_a_node() {
  using Kind = view::DataLayoutRow::Kind;
  view::DataLayout layout;
  layout.type = "struct node";
  layout.object = "/bin/prog";
  layout.events = {"cycles"};
  layout.totals = {{.samples = 4, .period = 400}};
  layout.rows = {
      {.kind = Kind::kOpens,
       .depth = 0,
       .offset = 0,
       .size = 24,
       .type = "struct node",
       .name = ""},
      {.depth = 1, .offset = 0, .size = 8, .type = "long int", .name = "value"},
      {.kind = Kind::kOpens, .depth = 1, .offset = 8, .size = 16, .type = "struct", .name = ""},
      {.depth = 2, .offset = 8, .size = 8, .type = "struct node*", .name = "next"},
      {.kind = Kind::kCloses, .depth = 1, .type = "", .name = ""},
      {.kind = Kind::kCloses, .depth = 0, .type = "", .name = ""}};
  layout.hits = {{4, 400}, {1, 100}, {3, 300}, {3, 300}, {0, 0}, {0, 0}};
  return layout;
}

TEST(DataLayoutText, MembersStandBelowEachOther) {
  StringSink out;
  write_data_layout(out, layout_of_a_node(), ListingColumn::kPercent, false);
  EXPECT_EQ(out.text(),
            "Annotate type: 'struct node' in /bin/prog (4 samples):\n"
            "============================================================================\n"
            " Percent     offset       size  field\n"
            "  100.00          0       0x18  struct node {\n"
            "   25.00          0        0x8      long int\tvalue;\n"
            "   75.00        0x8       0x10      struct {\n"
            "   75.00        0x8        0x8          struct node*\tnext;\n"
            "                                    };\n"
            "                                };\n"
            "\n");
}

TEST(DataLayoutText, EventsSideBySide) {
  view::DataLayout layout = layout_of_a_node();
  layout.events.emplace_back("instructions");
  layout.totals.push_back({.samples = 1, .period = 7});
  layout.rows.resize(1);
  layout.hits = {{4, 400}, {1, 7}};
  StringSink out;
  write_data_layout(out, layout, ListingColumn::kSamples, false);
  EXPECT_NE(out.text().find(" event[0] = cycles\n event[1] = instructions\n"),
            std::string_view::npos);
  EXPECT_NE(out.text().find("\n       4       1          0       0x18  struct node {\n"),
            std::string_view::npos);
}

TEST(DataLayoutText, CountsOfWhatIsMissing) {
  StringSink out;
  write_data_type_counts(out,
                         {.samples = 8, .known = 6, .reasons = {{"no_var", 2}, {"no_sym", 0}}});
  EXPECT_EQ(out.text(),
            "Annotate data type stats:\n"
            "total 8, ok 6 (75.0%), bad 2 (25.0%)\n"
            "-----------------------------------------------------------\n"
            "         2 : no_var\n\n");
}

}  // namespace
}  // namespace sonde::render
