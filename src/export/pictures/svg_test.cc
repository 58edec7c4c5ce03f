#include "export/pictures/svg.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Svg, MarkupBecomesEntities) {
  EXPECT_EQ(escaped("<&\">'"), "&lt;&amp;&quot;&gt;&#39;");
  EXPECT_EQ(escaped("std::vector<int>::push_back"), "std::vector&lt;int&gt;::push_back");
}

TEST(Svg, WhatXmlDoesNotHaveIsReplaced) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(escaped(std::string("a\0b", 3)), "a" + replacement + "b");
  EXPECT_EQ(escaped("a\x1b[31mb\x7f"), "a" + replacement + "[31mb" + replacement);
  EXPECT_EQ(escaped("one\ttwo\nthree\r"), "one two three ");
  EXPECT_EQ(escaped("\xff\xfe"), replacement + replacement);
  EXPECT_EQ(escaped("\xc3"), replacement) << "a sequence that is cut off";
  EXPECT_EQ(escaped("\xc0\xaf"), replacement + replacement) << "an overlong slash";
  EXPECT_EQ(escaped("\xed\xa0\x80"), replacement + replacement + replacement) << "a surrogate";
  EXPECT_EQ(escaped("\xef\xbf\xbf"), replacement + replacement + replacement) << "U+FFFF";
  EXPECT_EQ(escaped("\xf4\x90\x80\x80").size(), 4 * replacement.size()) << "beyond U+10FFFF";
}

TEST(Svg, OtherLanguagesStay) {
  EXPECT_EQ(escaped("größe 中文 🔥"), "größe 中文 🔥");
  std::string latin1;
  append_escaped(latin1,
                 "gr\xf6\xdf"
                 "e\x01<",
                 TextEncoding::kOneByte);
  EXPECT_EQ(latin1,
            "gr\xf6\xdf"
            "e?&lt;");
}

TEST(Svg, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567.5), "1,234,568");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(grouped(-0.2), "0");
  EXPECT_EQ(written_coordinate(193.5777), 193.6);
}

TEST(Svg, TextIsCutBetweenCharacters) {
  EXPECT_EQ(cut_text("main", 4), "main");
  EXPECT_EQ(cut_text("main", 3), "m..");
  EXPECT_EQ(cut_text("main", 2), "");
  EXPECT_EQ(cut_text("größenordnung", 5), "grö..");
  EXPECT_EQ(cut_text("größe", 5), "größe");
  EXPECT_EQ(cut_text("中文名字", 8), "中文名字");
  EXPECT_EQ(cut_text("中文名字", 7), "中文..");
  EXPECT_EQ(cut_text("中文", 3), "..") << "no room for a wide one and dots";
  EXPECT_EQ(cut_text("a中b", 4), "a中b");
  EXPECT_EQ(columns_of("größe 中"), 8u);
  EXPECT_EQ(cut_text(std::string(10000, 'x'), 10), "xxxxxxxx..");
}

TEST(Svg, TextFitsItsWidth) {
  SvgFont font{.family = "monospace", .size = 10, .width_em = 0.5};
  EXPECT_EQ(fit_text("function", 40, font), "function");
  EXPECT_EQ(fit_text("function", 39, font), "funct..");
  EXPECT_EQ(fit_text("function", 14, font), "");
  EXPECT_EQ(fit_text("function", -3, font), "");
}

TEST(Svg, Elements) {
  std::string svg;
  append_rect(svg, {.x = 1, .y = 2.04, .width = 3.06, .height = 15}, css({1, 2, 3}), " rx=\"2\"");
  append_text(svg, 4, 5, "<b>", " class=\"c\"");
  EXPECT_EQ(svg,
            "<rect x=\"1.0\" y=\"2.0\" width=\"3.1\" height=\"15.0\" fill=\"rgb(1,2,3)\" rx=\"2\"/>"
            "<text x=\"4.0\" y=\"5.0\" class=\"c\">&lt;b&gt;</text>");
}

TEST(Svg, ColorsAreMixed) {
  EXPECT_EQ(mix({0, 100, 200}, {100, 200, 0}, 0.5), (Rgb{50, 150, 100}));
  EXPECT_EQ(mix({0, 0, 0}, {10, 10, 10}, 7), (Rgb{10, 10, 10}));
}

TEST(Svg, StringsOfScriptsHoldNoMarkup) {
  std::string out;
  append_script_string(out, "a\"b\\c</script>]]>&\n\xff\xc3\xa9");
  EXPECT_EQ(
      out, "\"a\\u0022b\\u005cc\\u003c/script\\u003e]]\\u003e\\u0026\\u000a\xEF\xBF\xBD\xc3\xa9\"");
}

}  // namespace
}  // namespace sonde
