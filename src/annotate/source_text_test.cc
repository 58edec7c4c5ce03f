#include "annotate/source_text.h"

#include <gtest/gtest.h>

namespace sonde::annotate {
namespace {

TEST(SourceText, TabsReachTheNextColumnOfEight) {
  EXPECT_EQ(expand_tabs("1270:\tret"), "1270:   ret");
  EXPECT_EQ(expand_tabs("12345678\tx"), "12345678        x");
  EXPECT_EQ(expand_tabs("no tab"), "no tab");
}

TEST(SourceText, PrefixReplacesLeadingDirectories) {
  EXPECT_EQ(place_of("/build/one/a.c", {.prefix = "/src", .prefix_strip = 2}), "/src/a.c");
  EXPECT_EQ(place_of("/a.c", {.prefix = "/src", .prefix_strip = 0}), "/src/a.c");
  EXPECT_EQ(place_of("/b/a.c", {.prefix = "/src", .prefix_strip = 9}), "/src/a.c");
  EXPECT_EQ(place_of("./b/a.c", {.prefix = "/src", .prefix_strip = 1}), "./b/a.c");
}

}  // namespace
}  // namespace sonde::annotate
