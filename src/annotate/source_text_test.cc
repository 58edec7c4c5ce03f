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
  EXPECT_EQ(SourceText({.prefix = "/src", .prefix_strip = 2}).place_of("/build/one/a.c"),
            "/src/a.c");
  EXPECT_EQ(SourceText({.prefix = "/src", .prefix_strip = 0}).place_of("/a.c"), "/src/a.c");
  EXPECT_EQ(SourceText({.prefix = "/src", .prefix_strip = 9}).place_of("/b/a.c"), "/src/a.c");
  EXPECT_EQ(SourceText({.prefix = "/src", .prefix_strip = 1}).place_of("./b/a.c"), "./b/a.c");
}

TEST(SourceText, AFileThatIsNotHereHasNoLines) {
  SourceText text({});
  EXPECT_TRUE(text.lines("/no/such/file.c").empty());
}

}  // namespace
}  // namespace sonde::annotate
